import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

const FINGERPRINT = {
  description: 'By which the request log and the audit events name the key.',
  example: 'sha256:9f86d081884c7d65',
};

export class ApiKeyBody {
  @Text('Id of the key.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @Text('Start of the key, to recognise it by.', 'ak_test_9fKe') prefix!: string;
  @NullableText('As given; null without one.', 'Shop backend') label!: string | null;
  @Time('UTC.') createdAt!: string;
  @EnumOf('Whether the key uses the sandbox or moves money.', ['test', 'live']) mode!: Mode;
}

/** The contract's API key object. */
export class IssuedApiKeyBody extends ApiKeyBody {
  @Text('The key itself. Shown here only: keep it.', 'ak_test_9fKeW2bq0yV3mZxN1tHcJ5sLd8uRaGoP') apiKey!: string;
  @ApiProperty(FINGERPRINT) fingerprint!: string;
}

export class ApiKeyDetailsBody extends ApiKeyBody {
  @ApiProperty(FINGERPRINT) fingerprint!: string;
  @NullableText(
    'Id of the user who issued or last rotated it; null for the command line.',
    '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a14',
  )
  issued_by!: string | null;
  @NullableTime('The hour, begun, in which it was last used, UTC; null when it never was.', '2026-11-21T15:00:00.000Z')
  last_used_at!: string | null;
  @NullableTime('When it stops working by itself, UTC; null for never.', '2027-11-22T02:59:59.999Z')
  expires_at!: string | null;
  @ApiProperty({
    description: 'Where it works from; everywhere when the list is empty.',
    type: [String],
    example: ['203.0.113.7'],
  })
  allowed_ips!: readonly string[];
}

export class ApiKeyAccessBody {
  @ApiProperty({ description: 'Whether the caller may issue, rotate and revoke: an OWNER or ADMIN.', example: true })
  canManage!: boolean;
}

export class ApiKeyListBody {
  @ApiProperty({ description: 'The keys that work, of both modes, newest first.', type: [ApiKeyBody] })
  data!: ApiKeyBody[];
  @ApiProperty({ description: 'What the caller may do here.', type: ApiKeyAccessBody }) access!: ApiKeyAccessBody;
}

export class RevokedBody {
  @EnumOf('The key does not work any more.', [true]) revoked!: true;
}
