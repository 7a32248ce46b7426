import { applyDecorators } from '@nestjs/common';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import { IsString, MaxLength } from 'class-validator';
import { OptionalEnum, OptionalField, RequiredField } from '../../core/http/index.js';
import type { SessionKind } from '../sessions.service.js';

export class LoginDto {
  @RequiredText({
    description: 'E-mail of the user; case does not matter.',
    maxLength: 254,
    example: 'ana@example.com',
  })
  @MaxLength(254, { message: 'must have at most 254 characters' })
  email!: string;

  @RequiredText({ description: 'Password of the user.', format: 'password', example: 'correct horse battery' })
  password!: string;

  @OptionalField({
    description: 'One-time code, or recovery code, of a user with a second factor.',
    maxLength: 64,
    example: '287082',
  })
  @IsString({ message: 'must be a text' })
  @MaxLength(64, { message: 'must have at most 64 characters' })
  code?: string;

  @OptionalEnum(
    '`cookie`: the login is kept in a cookie of the browser, which no script reads, and the answer has no token. It ends after an hour without use, and after 12 hours at most. Writes then need the header `X-Requested-With: dashboard`.',
    ['token', 'cookie'],
    { default: 'token' },
  )
  session?: SessionKind;
}

/** A new password, whose rules the service checks. */
function NewPassword(): PropertyDecorator {
  return RequiredText({
    description: 'The new password: 10 to 256 characters, none of the most common, without e-mail or name.',
    format: 'password',
    minLength: 10,
    maxLength: 256,
    example: 'correct horse battery',
  });
}

function RequiredText(described: ApiPropertyOptions): PropertyDecorator {
  return applyDecorators(RequiredField(described), IsString({ message: 'must be a text' }));
}

const TOKEN = { description: 'The token of the mail.', example: 'wB2ZQ0xg6m1n3yI0lq7vCz0W5uJt8c4sXo9rEaKdFhM' };
const PASSWORD = { description: 'Password of the user.', format: 'password', example: 'correct horse battery' };

/** Body of `POST /v1/auth/accept-invitation` and of `POST /v1/auth/reset-password`. */
export class ChoosePasswordDto {
  @RequiredText(TOKEN) token!: string;
  @NewPassword() password!: string;
}

export class ForgotPasswordDto {
  @RequiredText({ description: 'E-mail of the user.', maxLength: 254, example: 'ana@example.com' })
  @MaxLength(254, { message: 'must have at most 254 characters' })
  email!: string;
}

export class ChangePasswordDto {
  @RequiredText(PASSWORD) current_password!: string;
  @NewPassword() new_password!: string;
}

export class BeginTotpDto {
  @RequiredText(PASSWORD) password!: string;
}

export class ConfirmTotpDto {
  @RequiredText({ description: 'A one-time code of the secret.', maxLength: 64, example: '287082' })
  @MaxLength(64, { message: 'must have at most 64 characters' })
  code!: string;
}

export class RemoveTotpDto extends ConfirmTotpDto {
  @RequiredText(PASSWORD) password!: string;
}

export class RenameDto {
  @RequiredText({ description: 'Your name, 1 to 120 characters on one line.', example: 'Ana Souza' })
  name!: string;
}
