import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class CurrencyBalanceBody {
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({
    description: 'Spendable, in the smallest unit; negative after a dispute of spent money.',
    type: 'integer',
    example: 1990,
  })
  available!: number;
  @ApiProperty({ description: 'Settled but waiting for its release.', type: 'integer', example: 0 }) pending!: number;
  @ApiProperty({ description: 'available + pending.', type: 'integer', example: 1990 }) total!: number;
}

export class BalanceBody {
  @ApiProperty({ description: 'Spendable, primary currency.', type: 'integer', example: 1990 }) available!: number;
  @ApiProperty({ description: 'Settled but held until its release.', type: 'integer', example: 0 }) pending!: number;
  @ApiPropertyOptional({ description: 'available + pending; not in the flat form.', type: 'integer', example: 1990 })
  total?: number;
  @ApiPropertyOptional({ description: 'Held by disputes; not in the flat form.', type: 'integer', example: 0 })
  retained?: number;
  @ApiProperty({ description: 'Primary currency, or the one asked for.', example: 'BRL' }) currency!: string;
  @ApiProperty({
    description: 'Next release of pending money.',
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-11-22T03:00:00.000Z',
  })
  next_release_at!: string | null;
  @ApiProperty({ description: 'Amount of that release.', type: 'integer', nullable: true, example: 1990 })
  next_release_amount!: number | null;
  @ApiPropertyOptional({
    description: 'One entry for each currency; not in the flat form.',
    type: [CurrencyBalanceBody],
  })
  balances?: CurrencyBalanceBody[];
  @ApiPropertyOptional({ description: 'The primary entry; not in the flat form.', type: CurrencyBalanceBody })
  primary?: CurrencyBalanceBody;
}

export class PastBalanceBody extends CurrencyBalanceBody {
  @ApiProperty({ description: 'Held by disputes.', type: 'integer', example: 0 }) retained!: number;
}

export class BalanceAtBody extends PastBalanceBody {
  @ApiProperty({
    description: 'The instant that was asked for; the last one of a day.',
    format: 'date-time',
    example: '2026-11-22T02:59:59.999Z',
  })
  at!: string;
  @ApiPropertyOptional({
    description: 'One entry for each currency that had been moved by then; not in the flat form.',
    type: [PastBalanceBody],
  })
  balances?: PastBalanceBody[];
}

export class PlannedReleaseBody {
  @ApiProperty({ description: 'Day in São Paulo, at whose begin it becomes spendable.', example: '2026-11-24' })
  date!: string;
  @ApiProperty({ description: 'That instant.', format: 'date-time', example: '2026-11-24T03:00:00.000Z' })
  release_at!: string;
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({ description: 'In the smallest unit.', type: 'integer', example: 19_900 }) amount!: number;
  @ApiProperty({ description: 'Of it, what was held longer as a reserve.', type: 'integer', example: 0 })
  reserve!: number;
  @ApiProperty({ description: 'Of how many sales.', type: 'integer', example: 10 }) count!: number;
}

export class ReleaseListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: 'list';
  @ApiProperty({ description: 'The next ones first, at most 400.', type: [PlannedReleaseBody] })
  data!: PlannedReleaseBody[];
}

export class WalletBody {
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({ description: 'Kind of wallet.', example: 'OPERATIONAL' }) walletType!: string;
  @ApiProperty({ description: 'Equals `available` of the balance.', type: 'integer', example: 1990 }) balance!: number;
  @ApiProperty({ description: 'Equals `pending` of the balance.', type: 'integer', example: 0 })
  pendingBalance!: number;
}
