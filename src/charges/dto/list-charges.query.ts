import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn } from 'class-validator';
import { CursorQuery, IsIdOf, IsOptional } from '../../core/http/index.js';
import { PUBLIC_STATUSES } from '../charge-status.js';
import { IsTaxId } from './validators.js';

export class ListChargesQuery extends CursorQuery {
  @ApiPropertyOptional({ description: 'A `ch_…` id: the previous page’s `next_cursor`.' })
  @IsOptional()
  @IsIdOf('the id of a charge', 'ch_')
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
