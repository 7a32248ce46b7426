import { ApiProperty } from '@nestjs/swagger';
import { IsDefined, IsString } from 'class-validator';

export class TestEndpointDto {
  @IsString({ message: 'must be the name of an event' })
  @IsDefined({ message: 'is required' })
  @ApiProperty({
    description:
      'A name from `GET /v1/webhooks/event-catalog` that this version sends; the endpoint need not be subscribed to it.',
    example: 'charge.paid',
  })
  event!: string;
}
