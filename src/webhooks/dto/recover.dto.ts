import { IsBoolean } from 'class-validator';
import { DAY_OR_INSTANT, IsDayOrInstant, OptionalField, RequiredField } from '../../core/http/index.js';

export class RecoverDto {
  @RequiredField({
    description:
      'What ended FAILED or CANCELLED at or after this instant, or since the beginning of this day in São Paulo; at most 30 days back.',
    ...DAY_OR_INSTANT,
    example: '2026-11-21T12:00:00.000Z',
  })
  @IsDayOrInstant()
  since!: string;

  @OptionalField({ description: 'Only count; send nothing.', type: Boolean, default: false })
  @IsBoolean({ message: 'must be true or false' })
  dry_run?: boolean;
}
