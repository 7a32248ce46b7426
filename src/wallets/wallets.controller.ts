import { Controller, Get, Query } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { ApiKeyAuth, Costs, CurrentScope } from '../auth/index.js';
import type { Scope } from '../core/mode.js';
import { TOTALS_DESCRIPTION, TOTALS_TOKENS, TotalsBody, totalsBody } from '../core/totals.js';
import { BalanceQuery, ReleasesQuery } from './dto/balance.query.js';
import { ListWalletEntriesQuery } from './dto/list-wallet-entries.query.js';
import { BalanceAtBody, BalanceBody, ReleaseListBody, WalletBody } from './dto/wallet.body.js';
import { WalletEntryListBody } from './dto/wallet-entry.body.js';
import { balanceAt } from './statement.serializer.js';
import { StatementService } from './statement.service.js';
import { flatBalance, multiCurrencyBalance, plannedRelease, walletItem } from './wallets.serializer.js';
import { WalletsService } from './wallets.service.js';

/** Decisions: the primary currency is BRL for every account. */
const PRIMARY = 'BRL';

@ApiTags('Wallets')
@ApiKeyAuth()
@Controller('v1/wallets')
export class WalletsController {
  constructor(
    private readonly wallets: WalletsService,
    private readonly statement: StatementService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List wallets', description: 'One for each currency of the account, in the key’s mode.' })
  @ApiResponse({ status: 200, description: 'The wallets.', type: [WalletBody] })
  async list(@CurrentScope() scope: Scope): Promise<WalletBody[]> {
    return (await this.wallets.balances(scope, PRIMARY)).map(walletItem);
  }

  @Get('balance')
  @ApiExtraModels(BalanceBody, BalanceAtBody)
  @ApiOperation({
    summary: 'Read the balance',
    description:
      'All currencies with the primary one at the top; the flat form of one currency with `currency`. As it was with `at`.',
  })
  @ApiResponse({
    status: 200,
    description: 'The balance.',
    schema: { oneOf: [{ $ref: getSchemaPath(BalanceBody) }, { $ref: getSchemaPath(BalanceAtBody) }] },
  })
  async getBalance(@CurrentScope() scope: Scope, @Query() query: BalanceQuery): Promise<BalanceBody | BalanceAtBody> {
    const { at } = query;
    if (at !== undefined) {
      const [primary, ...others] = await this.statement.balancesAt(scope, query.currency ?? PRIMARY, at);
      if (!primary) throw new Error('The primary wallet is always listed');
      return balanceAt(at, primary, query.currency === undefined ? [primary, ...others] : null);
    }
    const [primary, ...others] = await this.wallets.balances(scope, query.currency ?? PRIMARY);
    if (!primary) throw new Error('The primary wallet is always listed');
    return query.currency === undefined ? multiCurrencyBalance(primary, [primary, ...others]) : flatBalance(primary);
  }

  @Get('releases')
  @Costs(() => 5)
  @ApiOperation({
    summary: 'List what will be released',
    description:
      'What waits in `pending`, day by day of São Paulo, each with its sum, what of it is a reserve, and of how many sales it is.',
  })
  @ApiResponse({ status: 200, description: 'The days.', type: ReleaseListBody })
  async listReleases(@CurrentScope() scope: Scope, @Query() { currency }: ReleasesQuery): Promise<ReleaseListBody> {
    const planned = await this.wallets.plannedReleases(scope, currency ?? null);
    return { object: 'list', data: planned.map(plannedRelease) };
  }

  @Get('entries')
  // A rare type is looked for among all that there is.
  @Costs(({ type }) => (type === undefined ? 0 : 5))
  @ApiOperation({
    summary: 'List the entries of the wallet',
    description:
      'The statement: whatever has moved the merchant’s money, newest first, each with the balance after it. The balance at one instant and all entries after it up to another make the balance at that other.',
  })
  @ApiResponse({ status: 200, description: 'A page.', type: WalletEntryListBody })
  listWalletEntries(
    @CurrentScope() scope: Scope,
    @Query() query: ListWalletEntriesQuery,
  ): Promise<WalletEntryListBody> {
    return this.statement.list(scope, query);
  }

  @Get('entries/totals')
  @Costs(() => TOTALS_TOKENS)
  @ApiOperation({ summary: 'Count the entries of the wallet', description: TOTALS_DESCRIPTION })
  @ApiResponse({ status: 200, description: 'Count and sums.', type: TotalsBody })
  async countWalletEntries(@CurrentScope() scope: Scope, @Query() query: ListWalletEntriesQuery): Promise<TotalsBody> {
    return totalsBody(await this.statement.totals(scope, query));
  }
}
