import { IsInt, Max, Min } from 'class-validator';
import { OptionalField } from '../../core/http/index.js';

export const MAX_OVERLAP_SECONDS = 86_400;
const RULE = { message: `must be an integer from 0 to ${MAX_OVERLAP_SECONDS}` };

/** The whole body may be left out. */
export class RotateSecretDto {
  @OptionalField({
    description:
      'For how many seconds the old secret signs too, after the new one in the same header. 0: the old one stops at once. A further rotation ends the overlap of the one before.',
    type: 'integer',
    minimum: 0,
    maximum: MAX_OVERLAP_SECONDS,
    default: 0,
    example: 3600,
  })
  @IsInt(RULE)
  @Min(0, RULE)
  @Max(MAX_OVERLAP_SECONDS, RULE)
  overlap_seconds?: number;
}
