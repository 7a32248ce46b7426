import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import type { Role } from '../../accounts/index.js';
import type { DashboardRole } from '../principal.js';

const TOKEN_EXAMPLE = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIwMTlhIn0.q1w2e3r4t5y6u7i8o9p0';

export class LoginUserBody {
  @Text('Id of the user.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @Text('E-mail.', 'ana@example.com') email!: string;
  @Text('Name.', 'Ana Souza') name!: string;
}

export class LoginBody {
  @ApiPropertyOptional({
    description: 'Send it as `Authorization: Bearer <token>`. With `session: cookie` it is in the cookie alone.',
    example: TOKEN_EXAMPLE,
  })
  access_token?: string;
  @ApiPropertyOptional({ description: 'Same as `access_token`.', example: TOKEN_EXAMPLE }) token?: string;
  @ApiPropertyOptional({ description: 'Kind of token.', enum: ['Bearer'] }) token_type?: string;
  @Integer('Seconds until it ends.', 3600) expires_in!: number;
  @ApiProperty({ description: 'Who has logged in.', type: LoginUserBody }) user!: LoginUserBody;
  // Written out: in OpenAPI 3.0 a reference cannot be null.
  @ApiProperty({
    description: 'The account that the token is for; null for platform staff.',
    type: 'object',
    nullable: true,
    required: ['id', 'name', 'role'],
    properties: {
      id: { description: 'Id of the account.', type: 'string', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a13' },
      name: { description: 'Name of the account.', type: 'string', example: 'Padaria São João' },
      role: { description: 'Role of the user in it.', type: 'string', enum: ['OWNER', 'ADMIN', 'MEMBER'] },
    },
  })
  account!: { id: string; name: string; role: Role } | null;
}

export class CurrentSessionBody {
  @EnumOf('Kind of object.', ['session']) object!: string;
  @Text('Id of the login.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a14') id!: string;
  @EnumOf('What the user may do, as of now.', ['OWNER', 'ADMIN', 'MEMBER', 'OPERATOR']) role!: DashboardRole;
  @ApiProperty({ description: 'Whether a login of this user needs a one-time code too.', example: true })
  second_factor!: boolean;
  @ApiProperty({
    description: 'Whether a second factor must be set before anything else is open (operators, in production).',
    example: false,
  })
  second_factor_required!: boolean;
  @ApiProperty({ description: 'Who is logged in.', type: LoginUserBody }) user!: LoginUserBody;
  @ApiProperty({
    description: 'The account; null for platform staff.',
    type: 'object',
    nullable: true,
    required: ['id', 'name'],
    properties: {
      id: { description: 'Id of the account.', type: 'string', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a13' },
      name: { description: 'Name of the account.', type: 'string', example: 'Padaria São João' },
    },
  })
  account!: { id: string; name: string } | null;
}

export class SessionBody {
  @Text('Id of the login.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a14') id!: string;
  @EnumOf('Kind of object.', ['session']) object!: string;
  @ApiProperty({ description: 'Whether it is the one of this request.', example: true }) current!: boolean;
  @Time('UTC.', '2026-11-21T12:10:00.000Z') created_at!: string;
  @Time('The hour, UTC.') last_used_at!: string;
  @Time('UTC.', '2026-11-21T13:10:00.000Z') expires_at!: string;
  @NullableText('Address of the login.', '203.0.113.7') ip!: string | null;
  @NullableText('Program, shortened.', 'Mozilla/5.0 (X11)') user_agent!: string | null;
}

export class SessionListBody {
  @EnumOf('Kind of object.', ['list']) object!: string;
  @ApiProperty({ description: 'All logins that go on, newest first.', type: [SessionBody] }) data!: SessionBody[];
}

export class TotpBody {
  @Text('In base32, for typing in.', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP') secret!: string;
  @Text(
    'The same, for a QR code.',
    'otpauth://totp/Recebe:ana%40example.com?issuer=Recebe&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  )
  uri!: string;
  @Text('The QR code, a PNG as a `data:` URL.', 'data:image/png;base64,iVBORw0KGgo=') qr!: string;
}

export class RecoveryCodesBody {
  @ApiProperty({
    description: 'Ten codes; each logs in once in place of a one-time code. Shown here only.',
    type: [String],
    example: ['abcd-efgh-ijkl-mnop'],
  })
  recovery_codes!: string[];
}
