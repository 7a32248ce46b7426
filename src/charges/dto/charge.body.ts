import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, Text, Time } from '../../core/http/index.js';
import { SHOWN_RETURNS } from '../../transactions/index.js';
import { PUBLIC_STATUSES, type PublicStatus } from '../charge-status.js';

export class ChargeCustomerBody {
  @ApiPropertyOptional({ description: 'As supplied.', example: 'Maria da Silva' }) name?: string;
  @ApiPropertyOptional({ description: 'CPF or CNPJ, bare.', example: '52998224725' }) document?: string;
  @ApiPropertyOptional({ description: 'As supplied.', example: 'maria@example.com' }) email?: string;
  @ApiPropertyOptional({ description: 'As supplied.', example: '+5511987654321' }) phone?: string;
}

export class ChargePixBody {
  @Text(
    'The EMV copy-and-paste payload.',
    '00020101021226740014br.gov.bcb.pix2552pay.example.com/pix/7d9f0335b1d24c9f8a6e5c3b2a190f8e520400005303986540519.905802BR5916Padaria Sao Joao6009Sao Paulo62070503***63040DED',
  )
  br_code!: string;
  @ApiProperty({
    description: 'PNG of the QR code.',
    format: 'uri',
    example: 'https://pay.example.com/checkout/019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12/qr.png',
  })
  qr_code_url!: string;
  // Null in the type alone, as the column allows it: every Pix charge is created with its expiry.
  @Time('Authoritative expiry.', '2026-11-21T13:00:00.000Z') expires_at!: string | null;
  @ApiPropertyOptional({
    description: 'The acquirer’s txid; never equals the charge’s id.',
    example: '7d9f0335b1d24c9f8a6e5c3b2a190f8e',
  })
  txid?: string;
}

export class ChargeSettlementBody {
  @ApiPropertyOptional({
    description: 'Of the Pix, once paid and settled.',
    example: 'E00000000202611211530abcDEF12345',
  })
  end_to_end_id?: string;
}

export class ChargeReturnBody {
  @Integer('Cents.', 1990) amount!: number;
  @EnumOf('Why it did not pay the charge.', SHOWN_RETURNS) reason!: string;
  @Text('Of the Pix.', 'E00000000202611211530abcDEF12345') end_to_end_id!: string;
  @Time('When it had gone back, UTC.', '2026-11-21T13:00:00.000Z') at!: string;
}

export class ChargeBody {
  @Text('`ch_<uuid>`; key your data by it.', 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['charge']) object!: 'charge';
  @Integer('Cents.', 1990) amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @EnumOf('Public status.', PUBLIC_STATUSES) status!: PublicStatus;
  @EnumOf('How it is paid.', ['pix']) payment_method!: 'pix';
  @ApiProperty({ description: 'What was supplied; empty when nothing was.', type: ChargeCustomerBody })
  customer!: ChargeCustomerBody;
  @ApiProperty({ description: 'What the payer needs.', type: ChargePixBody }) pix!: ChargePixBody;
  @ApiProperty({
    description: 'Hosted checkout page.',
    format: 'uri',
    example: 'https://pay.example.com/checkout/019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  checkout_url!: string;
  @ApiProperty({ description: 'Empty until paid.', type: ChargeSettlementBody }) settlement!: ChargeSettlementBody;
  @ApiProperty({
    description:
      'As supplied, with `description` folded in. `failure` {reason, providerErrorCode, ttlSeconds, at} appears on expired, cancelled and failed charges.',
    type: 'object',
    additionalProperties: true,
  })
  metadata!: Record<string, unknown>;
  @Time('UTC.') created_at!: string;
  @ApiPropertyOptional({ description: 'Only when the payer lock is active for the account.', example: '52998224725' })
  expected_payer_tax_id?: string;
  @ApiPropertyOptional({
    description: 'Cents: the sum of its refunds that have not failed. Only when there is one.',
    type: 'integer',
    example: 990,
  })
  amount_refunded?: number;
  @ApiPropertyOptional({
    description:
      'Late, double or wrong-amount Pix that were sent back to their payers. Only when there is one, and once its bank has accepted it.',
    type: [ChargeReturnBody],
  })
  returns?: ChargeReturnBody[];
}

export class ChargeListBody extends CursorListOf(ChargeBody, 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') {}
