import { Body, Controller, Headers, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { MembersService, normalizeEmail, PasswordChanges } from '../accounts/index.js';
import type { Actor, Origin } from '../audit/index.js';
import { ApiErrors, ApiRefusal, PostOk } from '../core/http/index.js';
import {
  BeforeSecondFactor,
  CurrentActor,
  CurrentUser,
  DashboardAuth,
  LimitPerIp,
  Public,
  RequestOrigin,
} from './access.decorators.js';
import { DeviceCookie } from './device-cookie.service.js';
import { LoginBody } from './dto/login.body.js';
import { ChoosePasswordDto, ForgotPasswordDto, LoginDto } from './dto/login.dto.js';
import { loginBody } from './login.serializer.js';
import { LoginService } from './login.service.js';
import { PersonService } from './person.service.js';
import type { UserPrincipal } from './principal.js';
import { SessionCookie } from './session-cookie.service.js';
import { Sessions } from './sessions.service.js';

@ApiTags('Dashboard')
@Controller('v1/auth')
export class AuthController {
  constructor(
    private readonly logins: LoginService,
    private readonly sessions: Sessions,
    private readonly members: MembersService,
    private readonly passwords: PasswordChanges,
    private readonly people: PersonService,
    private readonly cookie: SessionCookie,
    private readonly device: DeviceCookie,
  ) {}

  @PostOk('login')
  @Public()
  @LimitPerIp()
  @ApiOperation({
    summary: 'Log in to the dashboard',
    description:
      'Gives a token that is good for an hour, for the account that the user joined first. 10 tries in 15 minutes for an e-mail from an address. A wrong password and an unknown e-mail get the same 401 `invalid_credentials`. Who has a second factor sends `code` too: without it 401 `totp_required`, with a wrong one 401 `totp_invalid`.',
  })
  @ApiOkResponse({ description: 'Logged in.', type: LoginBody })
  @ApiRefusal(401, {
    invalid_credentials: 'The password is wrong or the e-mail unknown.',
    totp_required: 'Send the one-time code as `code`.',
    totp_invalid: 'The one-time code is wrong.',
  })
  @ApiErrors('foreign_page', 'internal_error', 'service_unavailable')
  async logIn(
    @Body() body: LoginDto,
    @RequestOrigin() origin: Origin,
    @Headers('user-agent') userAgent: string | undefined,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<LoginBody> {
    const { session = 'token' } = body;
    if (session === 'cookie') this.cookie.assertOwnPage(request);
    const email = normalizeEmail(body.email);
    const device = this.device.read(request.headers.cookie, email);
    const login = await this.logins.login({ ...body, device }, origin, userAgent);
    if (session === 'cookie') {
      this.cookie.set(response, login.token);
      this.device.set(response, email, device);
    }
    return loginBody(login, session);
  }

  @Post('logout')
  @BeforeSecondFactor()
  @DashboardAuth('OWNER', 'ADMIN', 'MEMBER', 'OPERATOR')
  @HttpCode(204)
  @ApiOperation({ summary: 'Log out', description: 'The token stops working at once. Other logins of the user go on.' })
  @ApiNoContentResponse({ description: 'Logged out.' })
  async logOut(
    @CurrentUser() user: UserPrincipal,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    await this.sessions.logout(user, actor);
    this.cookie.clear(response);
  }

  @Post('accept-invitation')
  @Public()
  @LimitPerIp()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Accept an invitation',
    description:
      'With the token of the mail: the invited person becomes a member with this password and can log in from then on. A token works once, for 7 days. An e-mail that logs in to another account already is a 400.',
  })
  @ApiNoContentResponse({ description: 'Accepted.' })
  @ApiErrors('internal_error', 'service_unavailable')
  async acceptInvitation(@Body() body: ChoosePasswordDto, @RequestOrigin() origin: Origin): Promise<void> {
    await this.members.acceptInvitation(body, origin);
  }

  @Post('forgot-password')
  @Public()
  @LimitPerIp()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Ask for a new password',
    description:
      'Sends a mail with a token that is good for an hour, once, to who logs in with this e-mail, at most three an hour. The answer is the same for every e-mail.',
  })
  @ApiNoContentResponse({ description: 'A mail was sent, if a user logs in with this e-mail.' })
  @ApiErrors('internal_error', 'service_unavailable')
  async forgotPassword(@Body() { email }: ForgotPasswordDto, @RequestOrigin() origin: Origin): Promise<void> {
    await this.people.forgotPassword(email, origin);
  }

  @Post('reset-password')
  @Public()
  @LimitPerIp()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Choose a new password',
    description: 'With the token of the mail. All logins of the user end; a second factor stays.',
  })
  @ApiNoContentResponse({ description: 'Changed.' })
  @ApiErrors('internal_error', 'service_unavailable')
  async resetPassword(@Body() body: ChoosePasswordDto, @RequestOrigin() origin: Origin): Promise<void> {
    await this.passwords.reset(body, origin);
  }
}
