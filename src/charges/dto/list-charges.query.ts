import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { IsDateTime } from '../../core/http/index.js';
import { PUBLIC_STATUSES } from '../charge-status.js';
import { IsTaxId } from './validators.js';

const LIMIT = { message: 'must be an integer from 1 to 100' };

export class ListChargesQuery {
  @ApiPropertyOptional({ description: 'Charges a page.', minimum: 1, maximum: 100, default: 25, type: 'integer' })
  @IsOptional()
  @Matches(/^(?:[1-9]\d?|100)$/, LIMIT)
  limit?: string;

  @ApiPropertyOptional({ description: 'A `ch_…` id: the previous page’s `next_cursor`.' })
  @IsOptional()
  @Matches(/^(?:ch_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { message: 'must be the id of a charge' })
  starting_after?: string;

  @ApiPropertyOptional({ description: 'Only charges of this status.', enum: PUBLIC_STATUSES })
  @IsOptional()
  @IsIn(PUBLIC_STATUSES, { message: `must be one of ${PUBLIC_STATUSES.join(', ')}` })
  status?: (typeof PUBLIC_STATUSES)[number];

  @ApiPropertyOptional({ description: 'Inclusive lower bound on `created_at`.', format: 'date-time' })
  @IsOptional()
  @IsDateTime()
  created_after?: string;

  @ApiPropertyOptional({ description: 'Inclusive upper bound on `created_at`.', format: 'date-time' })
  @IsOptional()
  @IsDateTime()
  created_before?: string;

  @ApiPropertyOptional({ description: 'CPF or CNPJ of the customer.' })
  @IsOptional()
  @IsTaxId()
  customer_id?: string;
}
