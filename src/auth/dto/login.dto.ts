import { ApiProperty } from '@nestjs/swagger';
import { IsDefined, IsString, MaxLength } from 'class-validator';

export class LoginDto {
  @ApiProperty({ description: 'E-mail of the user; case does not matter.', maxLength: 254, example: 'ana@example.com' })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  @MaxLength(254, { message: 'must have at most 254 characters' })
  email!: string;

  @ApiProperty({ description: 'Password of the user.', format: 'password', example: 'correct horse battery' })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  password!: string;
}

export class AcceptInvitationDto {
  @ApiProperty({
    description: 'The token of the invitation.',
    example: 'wB2ZQ0xg6m1n3yI0lq7vCz0W5uJt8c4sXo9rEaKdFhM',
  })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  token!: string;

  @ApiProperty({
    description: 'The password to log in with from now on, 10 to 256 characters.',
    format: 'password',
    minLength: 10,
    maxLength: 256,
    example: 'correct horse battery',
  })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  password!: string;
}
