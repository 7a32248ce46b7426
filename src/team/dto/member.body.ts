import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EnumOf, Text, Time } from '../../core/http/index.js';

export class MemberBody {
  @Text('Id of the user; of an invited one, of the invitation.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['member']) object!: string;
  @Text('What the member logs in with.', 'ana@example.com') email!: string;
  @Text('Name; the e-mail when none was given.', 'Ana Souza') name!: string;
  @EnumOf('What the member may do.', ['OWNER', 'ADMIN', 'MEMBER']) role!: string;
  @EnumOf('An `invited` one has not accepted yet, and is no member before.', ['active', 'invited']) status!: string;
  @Time('UTC.') created_at!: string;
}

export class InvitationBody {
  @Time('UTC.', '2026-11-28T12:00:00.000Z') expires_at!: string;
}

export class InvitedMemberBody extends MemberBody {
  @ApiProperty({ description: 'Sent by mail, with its token.', type: InvitationBody }) invitation!: InvitationBody;
}

export class ListedMemberBody extends MemberBody {
  @ApiPropertyOptional({ description: 'Of an invited one.', type: InvitationBody }) invitation?: InvitationBody;
}

export class MemberListBody {
  @EnumOf('Kind of object.', ['list']) object!: string;
  @ApiProperty({ description: 'Members, then those who are invited; oldest first.', type: [ListedMemberBody] })
  data!: ListedMemberBody[];
}

export class RemovedBody {
  @EnumOf('The member is none any more.', [true]) removed!: true;
}
