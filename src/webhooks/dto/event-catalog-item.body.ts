import { ApiProperty } from '@nestjs/swagger';
import { Text } from '../../core/http/index.js';

export class EventCatalogItemBody {
  @Text('Name to subscribe to.', 'charge.paid') event!: string;
  @Text('When it is sent.', 'A charge was paid and the payment is confirmed.') description!: string;
  @ApiProperty({
    description: 'True for the older families `payment.*` and `withdrawal.*`, which `"*"` does not include.',
    example: false,
  })
  legacy!: boolean;
}
