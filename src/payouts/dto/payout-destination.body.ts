import { ApiPropertyOptional } from '@nestjs/swagger';
import { CursorListOf, EnumOf, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import type { ShownTarget } from '../targets.js';

/** A receiver with its key and tax id masked. */
export class ShownDestinationBody {
  @EnumOf('Kind of receiver.', ['pix_key', 'br_code', 'bank_account']) type!: ShownTarget['type'];
  @ApiPropertyOptional({ description: 'Pix key, masked.', type: String, nullable: true, example: '***.982.247-**' })
  key?: string | null;
  @ApiPropertyOptional({ description: '`cpf`, `cnpj`, `email`, `phone` or `random`.', example: 'cpf' })
  key_type?: string;
  @NullableText('CPF or CNPJ of the receiver, masked; null if it is not known.', '***.982.247-**')
  tax_id!: string | null;
  @ApiPropertyOptional({ description: 'Bank, 8 digits.', example: '00000000' }) ispb?: string;
  @ApiPropertyOptional({ description: 'Branch of the bank.', example: '0001' }) branch?: string;
  @ApiPropertyOptional({ description: 'Account number, masked.', example: '***789' }) number?: string;
  @ApiPropertyOptional({ description: '`checking`, `savings` or `payment`.', example: 'checking' })
  account_type?: string;
}

export class PayoutDestinationBody extends ShownDestinationBody {
  @Text('`pd_<uuid>`.', 'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['payout_destination']) object!: 'payout_destination';
  @ApiPropertyOptional({ description: 'Your name for it.', example: 'Main account' }) label?: string;
  @NullableTime('When an OWNER approved it: payouts to it no longer wait. Null: not yet.') approved_at!: string | null;
  @Time('UTC.') created_at!: string;
}

export class PayoutDestinationListBody extends CursorListOf(
  PayoutDestinationBody,
  'pd_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
) {}
