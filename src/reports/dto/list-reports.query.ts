import { ApiPropertyOptional } from '@nestjs/swagger';
import { CursorQuery, IsIdOf, IsOptional } from '../../core/http/index.js';

export class ListReportsQuery extends CursorQuery {
  @ApiPropertyOptional({ description: 'The previous page’s `next_cursor`.' })
  @IsOptional()
  @IsIdOf('the id of a report', 'rep_')
  starting_after?: string;
}
