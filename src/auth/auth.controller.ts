import { Body, Controller, Header, HttpCode, Post } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { MembersService } from '../accounts/index.js';
import type { Actor, Origin } from '../audit/index.js';
import { ApiErrors, ApiRequestId, RESPONSE_HEADERS } from '../core/http/index.js';
import { CurrentActor, CurrentUser, DashboardAuth, LimitPerIp, Public, RequestOrigin } from './access.decorators.js';
import { LoginBody } from './dto/login.body.js';
import { AcceptInvitationDto, LoginDto } from './dto/login.dto.js';
import { loginBody } from './login.serializer.js';
import { LoginService } from './login.service.js';
import type { UserPrincipal } from './principal.js';

@ApiTags('Dashboard')
@ApiRequestId()
@Controller('v1/auth')
export class AuthController {
  constructor(
    private readonly logins: LoginService,
    private readonly members: MembersService,
  ) {}

  @Post('login')
  @Public()
  @LimitPerIp()
  @HttpCode(200)
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Log in to the dashboard',
    description:
      'Gives a token that is good for an hour, for the account that the user joined first. 10 tries in 15 minutes for an e-mail from an address. A wrong password and an unknown e-mail get the same 401 `invalid_credentials`.',
  })
  @ApiOkResponse({ description: 'Logged in.', type: LoginBody, headers: RESPONSE_HEADERS })
  @ApiErrors(400, 401, 413, 415, 429, 500, 503)
  async login(@Body() body: LoginDto, @RequestOrigin() origin: Origin): Promise<LoginBody> {
    return loginBody(await this.logins.login(body, origin));
  }

  @Post('logout')
  @DashboardAuth('OWNER', 'ADMIN', 'MEMBER', 'OPERATOR')
  @HttpCode(204)
  @ApiOperation({ summary: 'Log out', description: 'The token stops working at once. Other logins of the user go on.' })
  @ApiNoContentResponse({ description: 'Logged out.', headers: RESPONSE_HEADERS })
  async logout(@CurrentUser() user: UserPrincipal, @CurrentActor() actor: Actor): Promise<void> {
    await this.logins.logout(user, actor);
  }

  @Post('accept-invitation')
  @Public()
  @LimitPerIp()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Accept an invitation',
    description: 'Sets the password of the invited user, who can log in from then on. A token works once, for 7 days.',
  })
  @ApiNoContentResponse({ description: 'Accepted.', headers: RESPONSE_HEADERS })
  @ApiErrors(400, 413, 415, 429, 500, 503)
  async acceptInvitation(@Body() body: AcceptInvitationDto, @RequestOrigin() origin: Origin): Promise<void> {
    await this.members.acceptInvitation(body, origin);
  }
}
