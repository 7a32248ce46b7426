import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches } from 'class-validator';
import { CursorQuery, IsOptional } from '../../core/http/index.js';
import { PUBLIC_STATUSES } from '../charge-status.js';
import { IsTaxId } from './validators.js';

export class ListChargesQuery extends CursorQuery {
  @ApiPropertyOptional({ description: 'A `ch_…` id: the previous page’s `next_cursor`.' })
  @IsOptional()
  @Matches(/^(?:ch_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, { message: 'must be the id of a charge' })
  starting_after?: string;

  @ApiPropertyOptional({ description: 'Only charges of this status.', enum: PUBLIC_STATUSES })
  @IsOptional()
  @IsIn(PUBLIC_STATUSES, { message: `must be one of ${PUBLIC_STATUSES.join(', ')}` })
  status?: (typeof PUBLIC_STATUSES)[number];

  @ApiPropertyOptional({ description: 'CPF or CNPJ of the customer.' })
  @IsOptional()
  @IsTaxId()
  customer_id?: string;
}
