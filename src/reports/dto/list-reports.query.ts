import { CursorQuery, IsIdOf, OptionalField } from '../../core/http/index.js';

export class ListReportsQuery extends CursorQuery {
  @OptionalField({ description: 'The previous page’s `next_cursor`.' })
  @IsIdOf('the id of a report', 'rep_')
  starting_after?: string;
}
