import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { IdCursorQuery, IsOptional } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

export class ListRequestLogsQuery extends IdCursorQuery {
  @ApiPropertyOptional({ description: 'Only requests made with this key.', example: 'sha256:0f1e2d3c4b5a6978' })
  @IsOptional()
  @Matches(/^sha256:[0-9a-f]{16}$/, { message: 'must be the fingerprint of a key, as in sha256:0f1e2d3c4b5a6978' })
  apiKeyFingerprint?: string;

  @ApiPropertyOptional({
    description: 'Only this mode. People at the dashboard are in neither.',
    enum: ['test', 'live'],
  })
  @IsOptional()
  @IsIn(['test', 'live'], { message: 'must be test or live' })
  mode?: Mode;

  @ApiPropertyOptional({ description: 'Only this route, as `route` shows it.', example: '/v1/charges/:id' })
  @IsOptional()
  @Matches(/^\/[\x21-\x7e]{0,199}$/, { message: 'must be a route, as in /v1/charges/:id' })
  route?: string;

  @ApiPropertyOptional({ description: 'Only answers of this HTTP status.', type: 'integer', example: 403 })
  @IsOptional()
  @Matches(/^[1-5]\d\d$/, { message: 'must be an HTTP status from 100 to 599' })
  status?: string;

  @ApiPropertyOptional({
    description: 'The `X-Request-Id` of an answer.',
    example: 'req_7f3c2a1b9d4e4f5a8b6c7d8e9f0a1b2c',
  })
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{8,128}$/, { message: 'must be a request id' })
  requestId?: string;
}
