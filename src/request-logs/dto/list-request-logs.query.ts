import { Matches } from 'class-validator';
import { IdCursorQuery, IsQueryInteger, OptionalEnum, OptionalField } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

export class ListRequestLogsQuery extends IdCursorQuery {
  @OptionalField({ description: 'Only requests made with this key.', example: 'sha256:0f1e2d3c4b5a6978' })
  @Matches(/^sha256:[0-9a-f]{16}$/, { message: 'must be the fingerprint of a key, as in sha256:0f1e2d3c4b5a6978' })
  apiKeyFingerprint?: string;

  @OptionalEnum('Only this mode. People at the dashboard are in neither.', ['test', 'live'])
  mode?: Mode;

  @OptionalField({ description: 'Only this route, as `route` shows it.', example: '/v1/charges/:id' })
  @Matches(/^\/[\x21-\x7e]{0,199}$/, { message: 'must be a route, as in /v1/charges/:id' })
  route?: string;

  @OptionalField({ description: 'Only answers of this HTTP status.', type: 'integer', example: 403 })
  @IsQueryInteger(100, 599, 'must be an HTTP status from 100 to 599')
  status?: number;

  @OptionalField({
    description: 'The `X-Request-Id` of an answer.',
    example: 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c',
  })
  @Matches(/^[A-Za-z0-9_-]{8,128}$/, { message: 'must be a request id' })
  requestId?: string;
}
