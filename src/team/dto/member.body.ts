import { ApiProperty } from '@nestjs/swagger';

export class MemberBody {
  @ApiProperty({ description: 'Id of the user.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['member'] }) object!: string;
  @ApiProperty({ description: 'What the member logs in with.', example: 'ana@example.com' }) email!: string;
  @ApiProperty({ description: 'Name; the e-mail when none was given.', example: 'Ana Souza' }) name!: string;
  @ApiProperty({ description: 'What the member may do.', enum: ['OWNER', 'ADMIN', 'MEMBER'] }) role!: string;
  @ApiProperty({ description: 'An `invited` member has not chosen a password yet.', enum: ['active', 'invited'] })
  status!: string;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' }) created_at!: string;
}

export class MemberListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: string;
  @ApiProperty({ description: 'All members, oldest first.', type: [MemberBody] }) data!: MemberBody[];
}

export class InvitationBody {
  @ApiProperty({
    description: 'For POST /v1/auth/accept-invitation. Shown here only: hand it to the invited person.',
    example: 'wB2ZQ0xg6m1n3yI0lq7vCz0W5uJt8c4sXo9rEaKdFhM',
  })
  token!: string;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-28T12:00:00.000Z' }) expires_at!: string;
}

export class InvitedMemberBody extends MemberBody {
  @ApiProperty({ description: 'With which the member comes in.', type: InvitationBody }) invitation!: InvitationBody;
}

export class RemovedBody {
  @ApiProperty({ description: 'The member is none any more.', enum: [true] }) removed!: true;
}
