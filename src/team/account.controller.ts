import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  accountSuspended,
  AccountsService,
  ChangeOwnAccountDto,
  merchantAccountBody,
  normalizeEmail,
  settingsOf,
} from '../accounts/index.js';
import type { Actor } from '../audit/index.js';
import { CurrentActor, CurrentMember, DashboardAuth, type MemberPrincipal, NeedsSecondFactor } from '../auth/index.js';
import { Clock } from '../core/clock.js';
import { ApiRefusal } from '../core/http/index.js';
import { occurrencesOf, SCHEDULE_REFUSALS } from '../payouts/index.js';
import { OwnAccountBody } from './dto/own-account.body.js';
import { MailLimits } from './mail-limits.service.js';

@ApiTags('Account')
@Controller('v1/account')
export class AccountController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly limits: MailLimits,
    private readonly clock: Clock,
  ) {}

  @Get()
  @DashboardAuth()
  @ApiOperation({ summary: 'Read your account', description: 'As payers and mails name and show it.' })
  @ApiOkResponse({ description: 'The account.', type: OwnAccountBody })
  async get(@CurrentMember() { accountId }: MemberPrincipal): Promise<OwnAccountBody> {
    return this.#body(accountId);
  }

  @Patch()
  @DashboardAuth('OWNER')
  @NeedsSecondFactor()
  @ApiOperation({
    summary: 'Change your account',
    description:
      'Send what changes; it holds from the next request on. `payout_approval_above` and the limits of payouts can only become lower. An operator raises or removes them, and sets fees, release and suspension.',
  })
  @ApiOkResponse({ description: 'The account.', type: OwnAccountBody })
  @ApiRefusal(422, SCHEDULE_REFUSALS)
  async change(
    @CurrentMember() { accountId }: MemberPrincipal,
    @Body() dto: ChangeOwnAccountDto,
    @CurrentActor() actor: Actor,
  ): Promise<OwnAccountBody> {
    const { suspended, contactEmail } = await this.accounts.details(accountId);
    if (suspended) throw accountSuspended();
    const isContactNew = dto.contact_email !== undefined && normalizeEmail(dto.contact_email) !== contactEmail;
    if (isContactNew) await this.limits.takeContact(accountId);
    await this.accounts.setValues(accountId, settingsOf(dto), actor);
    return this.#body(accountId);
  }

  async #body(accountId: string): Promise<OwnAccountBody> {
    const account = await this.accounts.details(accountId);
    const { payoutSchedule } = account;
    const now = this.clock.now();
    const next = payoutSchedule === null ? null : occurrencesOf(payoutSchedule, now, now).next;
    return { ...merchantAccountBody(account), payout_schedule_next_at: next?.toISOString() ?? null };
  }
}
