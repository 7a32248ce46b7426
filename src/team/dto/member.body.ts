import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

export class MemberBody {
  @ApiProperty({
    description: 'Id of the user; of an invited one, of the invitation.',
    example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['member'] }) object!: string;
  @ApiProperty({ description: 'What the member logs in with.', example: 'ana@example.com' }) email!: string;
  @ApiProperty({ description: 'Name; the e-mail when none was given.', example: 'Ana Souza' }) name!: string;
  @ApiProperty({ description: 'What the member may do.', enum: ['OWNER', 'ADMIN', 'MEMBER'] }) role!: string;
  @ApiProperty({
    description: 'An `invited` one has not accepted yet, and is no member before.',
    enum: ['active', 'invited'],
  })
  status!: string;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' }) created_at!: string;
}

export class InvitationBody {
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-28T12:00:00.000Z' }) expires_at!: string;
}

export class InvitedMemberBody extends MemberBody {
  @ApiProperty({ description: 'Sent by mail, with its token.', type: InvitationBody }) invitation!: InvitationBody;
}

export class ListedMemberBody extends MemberBody {
  @ApiPropertyOptional({ description: 'Of an invited one.', type: InvitationBody }) invitation?: InvitationBody;
}

export class MemberListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: string;
  @ApiProperty({ description: 'Members, then those who are invited; oldest first.', type: [ListedMemberBody] })
  data!: ListedMemberBody[];
}

export class RemovedBody {
  @ApiProperty({ description: 'The member is none any more.', enum: [true] }) removed!: true;
}
