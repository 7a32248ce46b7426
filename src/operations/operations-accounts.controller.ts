import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { AccountsService, settingsOf } from '../accounts/index.js';
import { ApiKeyListBody, apiKeyList, ApiKeysService } from '../api-keys/index.js';
import type { Actor } from '../audit/index.js';
import { CurrentActor, DashboardAuth } from '../auth/index.js';
import { ApiRefusal, cursorPage, idCursorFilter } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { SCHEDULE_REFUSALS } from '../payouts/index.js';
import { AccountBody, AccountListBody } from './dto/account.body.js';
import { ChangeAccountDto, CreateAccountDto } from './dto/account.dto.js';
import { ListAccountsQuery } from './dto/operations.query.js';
import { accountBody } from './operations.serializer.js';

const ACCOUNT_ID = { name: 'id', description: 'Id of the account.', schema: { type: 'string' as const } };

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations/accounts')
export class OperationsAccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Create an account', description: 'Its first OWNER gets an invitation by mail.' })
  @ApiCreatedResponse({ description: 'The account.', type: AccountBody })
  async create(@Body() dto: CreateAccountDto, @CurrentActor() actor: Actor): Promise<AccountBody> {
    const { name, email } = dto;
    const { accountId } = await this.accounts.create({ name, email, values: settingsOf(dto) }, actor);
    return accountBody(await this.accounts.details(accountId));
  }

  @Get()
  @ApiOperation({ summary: 'List accounts', description: 'Newest first, by cursor; `query` finds some of them.' })
  @ApiOkResponse({ description: 'A page.', type: AccountListBody })
  async list(@Query() query: ListAccountsQuery): Promise<AccountListBody> {
    const filter = { ...idCursorFilter(query), query: query.query?.trim() ?? null };
    return cursorPage(await this.accounts.list(filter), filter.limit, accountBody, (account) => account.id);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an account', description: 'With all its settings.' })
  @ApiParam(ACCOUNT_ID)
  @ApiOkResponse({ description: 'The account.', type: AccountBody })
  async get(@Param('id') id: string): Promise<AccountBody> {
    return accountBody(await this.accounts.details(parseId(id, [], 'account')));
  }

  @Get(':id/api-keys')
  @ApiOperation({
    summary: 'List API keys of an account',
    description: 'Those that work, of both modes, without the keys themselves: to revoke one that has leaked.',
  })
  @ApiParam(ACCOUNT_ID)
  @ApiOkResponse({ description: 'The keys that work.', type: ApiKeyListBody })
  async listAccountApiKeys(@Param('id') id: string): Promise<ApiKeyListBody> {
    const { id: accountId } = await this.accounts.details(parseId(id, [], 'account'));
    return apiKeyList(await this.keys.list(accountId), false);
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change settings of an account',
    description: 'Send what changes. It holds from the next request of the account on, in every process.',
  })
  @ApiParam(ACCOUNT_ID)
  @ApiOkResponse({ description: 'The account.', type: AccountBody })
  @ApiRefusal(422, SCHEDULE_REFUSALS)
  async change(
    @Param('id') id: string,
    @Body() dto: ChangeAccountDto,
    @CurrentActor() actor: Actor,
  ): Promise<AccountBody> {
    const accountId = parseId(id, [], 'account');
    await this.accounts.setValues(accountId, settingsOf(dto), actor);
    return accountBody(await this.accounts.details(accountId));
  }
}
