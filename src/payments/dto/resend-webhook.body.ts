import { ApiProperty } from '@nestjs/swagger';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../transactions/index.js';

export class ResendWebhookBody {
  @ApiProperty({
    description:
      'Whether it is sent; false only when no endpoint is subscribed, or nothing has been told of the payment yet (PENDING).',
    example: true,
  })
  resent!: boolean;
  @ApiProperty({ description: 'The status that was sent.', enum: TRANSACTION_STATUSES, example: 'PAID' })
  status!: TransactionStatus;
}
