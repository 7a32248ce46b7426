import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { ApiErrors, ApiRefusal, PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { BeforeSecondFactor, CurrentActor, CurrentUser, DashboardAuth } from './access.decorators.js';
import { CurrentSessionBody, LoginUserBody, RecoveryCodesBody, SessionListBody, TotpBody } from './dto/login.body.js';
import { ChangePasswordDto, BeginTotpDto, ConfirmTotpDto, RemoveTotpDto, RenameDto } from './dto/login.dto.js';
import { currentSession, loginUser, sessionList } from './login.serializer.js';
import { PersonService } from './person.service.js';
import type { UserPrincipal } from './principal.js';
import { Sessions } from './sessions.service.js';

/** Everybody's own login. */
@ApiTags('Dashboard')
@DashboardAuth('OWNER', 'ADMIN', 'MEMBER', 'OPERATOR')
@Controller('v1/auth')
export class PersonController {
  constructor(
    private readonly people: PersonService,
    private readonly sessions: Sessions,
  ) {}

  @Post('password')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Change your password',
    description: 'Your other logins end, and a mail tells you. Tries count as logins.',
  })
  @ApiNoContentResponse({ description: 'Changed.' })
  @ApiErrors('totp_setup_required')
  async changePassword(
    @CurrentUser() user: UserPrincipal,
    @Body() { current_password: current, new_password: next }: ChangePasswordDto,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.people.changePassword(user, { current, next }, actor);
  }

  @Get('session')
  @BeforeSecondFactor()
  @ApiOperation({ summary: 'Read your login', description: 'Who you are, in which account, and what you may do now.' })
  @ApiOkResponse({ description: 'The login of this request.', type: CurrentSessionBody })
  async getSession(@CurrentUser() user: UserPrincipal): Promise<CurrentSessionBody> {
    return currentSession(await this.people.current(user));
  }

  @Patch('user')
  @ApiOperation({ summary: 'Change your name', description: 'As members and the audit trail of the account show it.' })
  @ApiOkResponse({ description: 'Changed.', type: LoginUserBody })
  @ApiErrors('totp_setup_required')
  async renameUser(
    @CurrentUser() user: UserPrincipal,
    @Body() { name }: RenameDto,
    @CurrentActor() actor: Actor,
  ): Promise<LoginUserBody> {
    return loginUser(await this.people.rename(user, name, actor));
  }

  @Get('sessions')
  @ApiOperation({ summary: 'List your logins', description: 'Those that go on, this one among them, newest first.' })
  @ApiOkResponse({ description: 'All of them.', type: SessionListBody })
  @ApiErrors('totp_setup_required')
  async listSessions(@CurrentUser() user: UserPrincipal): Promise<SessionListBody> {
    return sessionList(await this.sessions.list(user), user.sessionId);
  }

  @Delete('sessions/:id')
  @HttpCode(204)
  @ApiOperation({ summary: 'End one of your logins', description: 'Its token stops working at once.' })
  @ApiParam({ name: 'id', description: 'Id of the login.', schema: { type: 'string' } })
  @ApiNoContentResponse({ description: 'Ended.' })
  @ApiErrors('totp_setup_required')
  async endSession(
    @CurrentUser() user: UserPrincipal,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.sessions.end(user, parseId(id, [], 'session'), actor);
  }

  @PostOk('totp')
  @BeforeSecondFactor()
  @ApiOperation({
    summary: 'Begin to set a second factor',
    description:
      'With the password. Makes a secret for an app that shows one-time codes (RFC 6238: SHA-1, six digits, 30 seconds). It counts once it is confirmed; a repetition makes another one.',
  })
  @ApiOkResponse({ description: 'The secret.', type: TotpBody })
  @ApiRefusal(422, { totp_already_set: 'A second factor is set: remove it first.' })
  beginTotp(@CurrentUser() user: UserPrincipal, @Body() { password }: BeginTotpDto): Promise<TotpBody> {
    return this.people.beginSecondFactor(user, password);
  }

  @PostOk('totp/confirm')
  @BeforeSecondFactor()
  @ApiOperation({
    summary: 'Set the second factor',
    description:
      'By a code of the new secret. From now on a login needs a code; other logins of the user end, and a mail tells you.',
  })
  @ApiOkResponse({ description: 'Set.', type: RecoveryCodesBody })
  @ApiRefusal(422, {
    totp_already_set: 'A second factor is set: remove it first.',
    totp_not_begun: 'There is no secret to confirm.',
  })
  async confirmTotp(
    @CurrentUser() user: UserPrincipal,
    @Body() { code }: ConfirmTotpDto,
    @CurrentActor() actor: Actor,
  ): Promise<RecoveryCodesBody> {
    return { recovery_codes: await this.people.confirmSecondFactor(user, code, actor) };
  }

  @Delete('totp')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Remove the second factor',
    description: 'With the password and a code. A login needs the password alone again; a mail tells you.',
  })
  @ApiNoContentResponse({ description: 'Removed.' })
  @ApiErrors('totp_setup_required', 'not_found')
  async removeTotp(
    @CurrentUser() user: UserPrincipal,
    @Body() body: RemoveTotpDto,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    await this.people.removeSecondFactor(user, body, actor);
  }
}
