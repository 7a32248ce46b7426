import { ApiProperty } from '@nestjs/swagger';
import type { Role } from '../../accounts/index.js';

const TOKEN_EXAMPLE = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIwMTlhIn0.q1w2e3r4t5y6u7i8o9p0';

export class LoginUserBody {
  @ApiProperty({ description: 'Id of the user.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' }) id!: string;
  @ApiProperty({ description: 'E-mail.', example: 'ana@example.com' }) email!: string;
  @ApiProperty({ description: 'Name.', example: 'Ana Souza' }) name!: string;
}

export class LoginBody {
  @ApiProperty({
    description: 'Send it as `Authorization: Bearer <token>`.',
    example: TOKEN_EXAMPLE,
  })
  access_token!: string;
  @ApiProperty({ description: 'Same as `access_token`.', example: TOKEN_EXAMPLE }) token!: string;
  @ApiProperty({ description: 'Kind of token.', enum: ['Bearer'] }) token_type!: string;
  @ApiProperty({ description: 'Seconds until it ends.', type: 'integer', example: 3600 }) expires_in!: number;
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
