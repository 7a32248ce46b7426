import { IsIn, IsString } from 'class-validator';
import type { Role } from '../../accounts/index.js';
import { OptionalField, RequiredField } from '../../core/http/index.js';

const ROLES: readonly Role[] = ['OWNER', 'ADMIN', 'MEMBER'];
const ROLE_RULE = { message: `must be one of ${ROLES.join(', ')}` };

export class InviteMemberDto {
  @RequiredField({ description: 'Of the person to invite.', maxLength: 254, example: 'ana@example.com' })
  @IsString({ message: 'must be a text' })
  email!: string;

  @OptionalField({ description: '1 to 120 characters; the e-mail when left out.', example: 'Ana Souza' })
  @IsString({ message: 'must be a text' })
  name?: string;

  @RequiredField({ description: 'What the member may do.', enum: ROLES })
  @IsIn(ROLES, ROLE_RULE)
  role!: Role;
}

export class ChangeRoleDto {
  @RequiredField({ description: 'What the member may do from now on.', enum: ROLES })
  @IsIn(ROLES, ROLE_RULE)
  role!: Role;
}
