import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentScope } from '../auth/index.js';
import { ApiErrors, ApiRequestId, RESPONSE_HEADERS } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { BalanceQuery } from './dto/balance.query.js';
import { BalanceBody, WalletBody } from './dto/wallet.body.js';
import { flatBalance, multiCurrencyBalance, walletItem } from './wallets.serializer.js';
import { WalletsService } from './wallets.service.js';

/** Decisions: the primary currency is BRL for every account. */
const PRIMARY = 'BRL';

@ApiTags('Wallets')
@ApiKeyAuth()
@ApiRequestId()
@Controller('v1/wallets')
export class WalletsController {
  constructor(private readonly wallets: WalletsService) {}

  @Get()
  @ApiOperation({ summary: 'List wallets', description: 'One for each currency of the account, in the key’s mode.' })
  @ApiResponse({ status: 200, description: 'The wallets.', type: [WalletBody], headers: RESPONSE_HEADERS })
  async list(@CurrentScope() scope: Scope): Promise<WalletBody[]> {
    return (await this.wallets.balances(scope, PRIMARY)).map(walletItem);
  }

  @Get('balance')
  @ApiOperation({
    summary: 'Read the balance',
    description: 'All currencies with the primary one at the top; the flat form of one currency with `currency`.',
  })
  @ApiResponse({ status: 200, description: 'The balance.', type: BalanceBody, headers: RESPONSE_HEADERS })
  @ApiErrors(400)
  async balance(@CurrentScope() scope: Scope, @Query() query: BalanceQuery): Promise<BalanceBody> {
    const [primary, ...others] = await this.wallets.balances(scope, query.currency ?? PRIMARY);
    if (!primary) throw new Error('The primary wallet is always listed');
    return query.currency === undefined ? multiCurrencyBalance(primary, [primary, ...others]) : flatBalance(primary);
  }
}
