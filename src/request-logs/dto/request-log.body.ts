import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

export class RequestLogBody {
  @ApiProperty({ description: 'Of this entry.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['request_log'] }) object!: 'request_log';
  @ApiProperty({ description: 'The answer’s `X-Request-Id`.', example: 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c' })
  requestId!: string;
  @ApiProperty({
    description: 'Of the key; null for a person.',
    type: String,
    enum: ['test', 'live', null],
    nullable: true,
  })
  mode!: Mode | null;
  @ApiProperty({
    description: 'Of the key that called; null for a person.',
    type: String,
    nullable: true,
    example: 'sha256:0f1e2d3c4b5a6978',
  })
  apiKeyFingerprint!: string | null;
  @ApiProperty({
    description: 'Of the person who called; null for a key.',
    type: String,
    nullable: true,
    example: '019aa0f0-0000-7000-8000-000000000001',
  })
  userId!: string | null;
  @ApiProperty({ description: 'HTTP method.', example: 'GET' }) method!: string;
  @ApiProperty({ description: 'The route that answered.', example: '/v1/charges/:id' }) route!: string;
  @ApiProperty({
    description: 'The route with the ids of the request. What was no id is left out, and so is the query.',
    example: '/v1/charges/ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  path!: string;
  @ApiProperty({ description: 'HTTP status of the answer.', type: 'integer', example: 200 }) status!: number;
  @ApiProperty({ description: '`error.code` of the answer.', type: String, nullable: true, example: 'not_found' })
  errorCode!: string | null;
  @ApiProperty({ description: 'Milliseconds until the answer was sent.', type: 'integer', example: 12 })
  durationMs!: number;
  @ApiProperty({ description: 'Address of the caller.', type: String, nullable: true, example: '203.0.113.7' })
  ip!: string | null;
  @ApiProperty({ description: 'When it came, UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' })
  createdAt!: string;
}

export class RequestLogListBody extends CursorListOf(RequestLogBody) {}
