import { ApiProperty } from '@nestjs/swagger';

export class EventCatalogItemBody {
  @ApiProperty({ description: 'Name to subscribe to.', example: 'charge.paid' }) event!: string;
  @ApiProperty({ description: 'When it is sent.', example: 'A charge was paid and the payment is confirmed.' })
  description!: string;
  @ApiProperty({
    description: 'True for the older families `payment.*` and `withdrawal.*`, which `"*"` does not include.',
    example: false,
  })
  legacy!: boolean;
}
