import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, NullableText, Text, Time } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

export class RequestLogBody {
  @Text('Of this entry.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['request_log']) object!: 'request_log';
  @Text('The answer’s `X-Request-Id`.', 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c') requestId!: string;
  @ApiProperty({
    description: 'Of the key; null for a person.',
    type: String,
    enum: ['test', 'live', null],
    nullable: true,
  })
  mode!: Mode | null;
  @NullableText('Of the key that called; null for a person.', 'sha256:0f1e2d3c4b5a6978')
  apiKeyFingerprint!: string | null;
  @NullableText('Of the person who called; null for a key.', '019aa0f0-0000-7000-8000-000000000001')
  userId!: string | null;
  @Text('HTTP method.', 'GET') method!: string;
  @Text('The route that answered.', '/v1/charges/:id') route!: string;
  @Text(
    'The route with the ids of the request. What was no id is left out, and so is the query.',
    '/v1/charges/ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  )
  path!: string;
  @Integer('HTTP status of the answer.', 200) status!: number;
  @NullableText('`error.code` of the answer.', 'not_found') errorCode!: string | null;
  @Integer('Milliseconds until the answer was sent.', 12) durationMs!: number;
  @NullableText('Address of the caller.', '203.0.113.7') ip!: string | null;
  @Time('When it came, UTC.') createdAt!: string;
}

export class RequestLogListBody extends CursorListOf(RequestLogBody) {}
