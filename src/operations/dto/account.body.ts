import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import type { FraudMode } from '../../accounts/index.js';

export class AccountBody {
  @ApiProperty({ description: 'Id of the account.', example: '019aa0f0-0000-7000-8000-000000000001' }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['account'] }) object!: string;
  @ApiProperty({ description: 'Name of the merchant.', example: 'Padaria São João' }) name!: string;
  @ApiProperty({ description: 'Where the account is written to.', example: 'ana@example.com' }) contact_email!: string;
  @ApiProperty({ description: 'Shown in the BR Code.', example: 'SAO PAULO' }) city!: string;
  @ApiProperty({ description: 'The service’s fee in basis points.', type: 'integer', example: 99 }) fee_bps!: number;
  @ApiProperty({ description: 'The service’s fixed fee in cents.', type: 'integer', example: 10 }) fee_fixed!: number;
  @ApiProperty({ description: 'Of a Pix-out, in cents.', type: 'integer', example: 50 }) pix_out_fee!: number;
  @ApiProperty({ description: 'Calendar days until money is spendable.', type: 'integer', example: 1 })
  release_days!: number;
  @ApiProperty({ description: 'Whether `expected_payer_tax_id` locks charges.', example: false }) payer_lock!: boolean;
  @ApiProperty({ description: 'Seconds a charge waits by default.', type: 'integer', example: 3_600 })
  default_expires_in!: number;
  @ApiProperty({ description: 'Whether it is told by webhook how its MED cases end.', example: true })
  med_outcome_notifications!: boolean;
  @ApiProperty({ description: 'What the fraud guard does.', enum: ['enforce', 'shadow', 'off'] })
  fraud_mode!: FraudMode;
  @ApiProperty({ description: 'Charges a minute for one customer document.', type: 'integer', example: 30 })
  fraud_velocity!: number;
  @ApiProperty({ description: 'Maximum ticket; null for none.', type: 'integer', nullable: true, example: 500_000 })
  fraud_max_amount!: number | null;
  @ApiProperty({ description: 'CPFs and CNPJs that are not charged.', type: [String], example: ['52998224725'] })
  fraud_blocked_documents!: string[];
  @ApiProperty({
    description: 'Colour of the checkout’s buttons; null for the service’s own.',
    type: String,
    nullable: true,
    example: '#0b6b60',
  })
  accent!: string | null;
  @ApiProperty({
    description: 'Picture of the checkout as a `data:` URL; null for none.',
    type: String,
    nullable: true,
    example: 'data:image/png;base64,iVBORw0KGgo=',
  })
  logo!: string | null;
  @ApiProperty({ description: 'Whether payers get a receipt by mail.', example: true }) payer_receipts!: boolean;
  @ApiProperty({ description: 'Whether its API keys are refused.', example: false }) suspended!: boolean;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' }) created_at!: string;
}

export class AccountListBody extends CursorListOf(AccountBody) {}
