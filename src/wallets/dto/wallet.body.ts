import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EnumOf, Integer, NullableInteger, NullableTime, Text, Time } from '../../core/http/index.js';

export class CurrencyBalanceBody {
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Integer('Spendable, in the smallest unit; negative after a dispute of spent money.', 1990) available!: number;
  @Integer('Settled but waiting for its release.', 0) pending!: number;
  @Integer('available + pending.', 1990) total!: number;
}

export class BalanceBody {
  @Integer('Spendable, primary currency.', 1990) available!: number;
  @Integer('Settled but held until its release.', 0) pending!: number;
  @ApiPropertyOptional({ description: 'available + pending; not in the flat form.', type: 'integer', example: 1990 })
  total?: number;
  @ApiPropertyOptional({ description: 'Held by disputes; not in the flat form.', type: 'integer', example: 0 })
  retained?: number;
  @Text('Primary currency, or the one asked for.', 'BRL') currency!: string;
  @NullableTime('Next release of pending money.', '2026-11-22T03:00:00.000Z') next_release_at!: string | null;
  @NullableInteger('Amount of that release.', 1990) next_release_amount!: number | null;
  @ApiPropertyOptional({
    description: 'One entry for each currency; not in the flat form.',
    type: [CurrencyBalanceBody],
  })
  balances?: CurrencyBalanceBody[];
  @ApiPropertyOptional({ description: 'The primary entry; not in the flat form.', type: CurrencyBalanceBody })
  primary?: CurrencyBalanceBody;
}

export class PastBalanceBody extends CurrencyBalanceBody {
  @Integer('Held by disputes.', 0) retained!: number;
}

export class BalanceAtBody extends PastBalanceBody {
  @Time('The instant that was asked for; the last one of a day.', '2026-11-22T02:59:59.999Z') at!: string;
  @ApiPropertyOptional({
    description: 'One entry for each currency that had been moved by then; not in the flat form.',
    type: [PastBalanceBody],
  })
  balances?: PastBalanceBody[];
}

export class PlannedReleaseBody {
  @Text('Day in São Paulo, at whose begin it becomes spendable.', '2026-11-24') date!: string;
  @Time('That instant.', '2026-11-24T03:00:00.000Z') release_at!: string;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Integer('In the smallest unit.', 19_900) amount!: number;
  @Integer('Of it, what was held longer as a reserve.', 0) reserve!: number;
  @Integer('Of how many sales.', 10) count!: number;
}

export class ReleaseListBody {
  @EnumOf('Kind of object.', ['list']) object!: 'list';
  @ApiProperty({ description: 'The next ones first, at most 400.', type: [PlannedReleaseBody] })
  data!: PlannedReleaseBody[];
}

export class WalletBody {
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Text('Kind of wallet.', 'OPERATIONAL') walletType!: string;
  @Integer('Equals `available` of the balance.', 1990) balance!: number;
  @Integer('Equals `pending` of the balance.', 0) pendingBalance!: number;
}
