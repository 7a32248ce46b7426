import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsIn, IsString } from 'class-validator';
import type { Role } from '../../accounts/index.js';
import { IsOptional } from '../../core/http/index.js';

const ROLES: readonly Role[] = ['OWNER', 'ADMIN', 'MEMBER'];
const ROLE_RULE = { message: `must be one of ${ROLES.join(', ')}` };

export class InviteMemberDto {
  @ApiProperty({ description: 'Of the person to invite.', maxLength: 254, example: 'ana@example.com' })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  email!: string;

  @ApiPropertyOptional({ description: '1 to 120 characters; the e-mail when left out.', example: 'Ana Souza' })
  @IsOptional()
  @IsString({ message: 'must be a text' })
  name?: string;

  @ApiProperty({ description: 'What the member may do.', enum: ROLES })
  @IsDefined({ message: 'is required' })
  @IsIn(ROLES, ROLE_RULE)
  role!: Role;
}

export class ChangeRoleDto {
  @ApiProperty({ description: 'What the member may do from now on.', enum: ROLES })
  @IsDefined({ message: 'is required' })
  @IsIn(ROLES, ROLE_RULE)
  role!: Role;
}
