import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, NullableText, Text, Time } from '../../core/http/index.js';
import { AUDIT_EVENT_TYPES, type AuditEventType } from '../../audit/index.js';

export class AuditActorBody {
  @EnumOf(
    'A `member` of the account, an `operator` of the platform, a program with an `api_key`, the command line (`cli`), the service itself (`system`), or a caller who had not logged in (`anonymous`).',
    ['member', 'operator', 'api_key', 'cli', 'system', 'anonymous'],
  )
  type!: string;
  @NullableText('Id of the user; null when it was none.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string | null;
  @NullableText('E-mail of a `member`; null otherwise.', 'ana@example.com') email!: string | null;
}

export class AuditEventBody {
  @Text('Id of the event.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a15') id!: string;
  @EnumOf('Kind of object.', ['audit_event']) object!: string;
  @EnumOf('What happened.', AUDIT_EVENT_TYPES) type!: AuditEventType;
  @ApiProperty({ description: 'Who did it.', type: AuditActorBody }) actor!: AuditActorBody;
  @NullableText(
    'Of the API key that was issued or revoked, or with which it was done; null otherwise.',
    'sha256:9f86d081884c7d65',
  )
  api_key_fingerprint!: string | null;
  @NullableText('Where the request came from.', '203.0.113.7') ip!: string | null;
  @NullableText('Of the request that did it.', 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c') request_id!: string | null;
  @ApiProperty({
    description: 'What else is worth knowing, by type: ids, roles, settings before and after.',
    type: 'object',
    additionalProperties: true,
  })
  data!: Record<string, unknown>;
  @Time('UTC.') created_at!: string;
}

export class AuditEventListBody extends CursorListOf(AuditEventBody) {}
