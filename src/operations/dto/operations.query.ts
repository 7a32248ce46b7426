import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { IdCursorQuery, IsOptional } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

export class ListReviewsQuery extends IdCursorQuery {
  @ApiPropertyOptional({ description: 'Only this mode.', enum: ['test', 'live'] })
  @IsOptional()
  @IsIn(['test', 'live'], { message: 'must be test or live' })
  mode?: Mode;
}

export class ListFraudHitsQuery extends IdCursorQuery {
  @ApiPropertyOptional({ description: 'Only this account.', example: '019aa0f0-0000-7000-8000-000000000001' })
  @IsOptional()
  @Matches(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { message: 'must be the id of an account' })
  account_id?: string;
}
