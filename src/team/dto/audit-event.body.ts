import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import { AUDIT_EVENT_TYPES, type AuditEventType } from '../../audit/index.js';

export class AuditActorBody {
  @ApiProperty({
    description:
      'A `member` of the account, an `operator` of the platform, a program with an `api_key`, the command line (`cli`), the service itself (`system`), or a caller who had not logged in (`anonymous`).',
    enum: ['member', 'operator', 'api_key', 'cli', 'system', 'anonymous'],
  })
  type!: string;
  @ApiProperty({
    description: 'Id of the user; null when it was none.',
    type: String,
    nullable: true,
    example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  id!: string | null;
  @ApiProperty({
    description: 'E-mail of a `member`; null otherwise.',
    type: String,
    nullable: true,
    example: 'ana@example.com',
  })
  email!: string | null;
}

export class AuditEventBody {
  @ApiProperty({ description: 'Id of the event.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a15' }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['audit_event'] }) object!: string;
  @ApiProperty({ description: 'What happened.', enum: AUDIT_EVENT_TYPES }) type!: AuditEventType;
  @ApiProperty({ description: 'Who did it.', type: AuditActorBody }) actor!: AuditActorBody;
  @ApiProperty({
    description: 'Of the API key that was issued or revoked, or with which it was done; null otherwise.',
    type: String,
    nullable: true,
    example: 'sha256:9f86d081884c7d65',
  })
  api_key_fingerprint!: string | null;
  @ApiProperty({ description: 'Where the request came from.', type: String, nullable: true, example: '203.0.113.7' })
  ip!: string | null;
  @ApiProperty({
    description: 'Of the request that did it.',
    type: String,
    nullable: true,
    example: 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c',
  })
  request_id!: string | null;
  @ApiProperty({
    description: 'What else is worth knowing, by type: ids, roles, settings before and after.',
    type: 'object',
    additionalProperties: true,
  })
  data!: Record<string, unknown>;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' }) created_at!: string;
}

export class AuditEventListBody extends CursorListOf(AuditEventBody) {}
