import { IsString } from 'class-validator';
import { RequiredField } from '../../core/http/index.js';

export class TestEndpointDto {
  @IsString({ message: 'must be the name of an event' })
  @RequiredField({
    description:
      'A name from `GET /v1/webhooks/event-catalog` that this version sends; the endpoint need not be subscribed to it.',
    example: 'charge.paid',
  })
  event!: string;
}
