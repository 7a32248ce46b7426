import { IsString } from 'class-validator';
import type { Role } from '../../accounts/index.js';
import { OptionalField, RequiredEnum, RequiredField } from '../../core/http/index.js';

const ROLES: readonly Role[] = ['OWNER', 'ADMIN', 'MEMBER'];

export class InviteMemberDto {
  @RequiredField({ description: 'Of the person to invite.', maxLength: 254, example: 'ana@example.com' })
  @IsString({ message: 'must be a text' })
  email!: string;

  @OptionalField({ description: '1 to 120 characters; the e-mail when left out.', example: 'Ana Souza' })
  @IsString({ message: 'must be a text' })
  name?: string;

  @RequiredEnum('What the member may do.', ROLES)
  role!: Role;
}

export class ChangeRoleDto {
  @RequiredEnum('What the member may do from now on.', ROLES)
  role!: Role;
}
