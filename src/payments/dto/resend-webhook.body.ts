import { ApiProperty } from '@nestjs/swagger';
import { TRANSACTION_STATUSES } from '../../transactions/index.js';

// Only for the OpenAPI document.

export class ResendWebhookSchema {
  @ApiProperty({
    description:
      'Whether anybody gets it; false only when nobody is subscribed, or nothing has been told of the payment yet (PENDING).',
    example: true,
  })
  resent!: boolean;
  @ApiProperty({ description: 'The status that was sent.', enum: TRANSACTION_STATUSES, example: 'PAID' })
  status!: string;
}
