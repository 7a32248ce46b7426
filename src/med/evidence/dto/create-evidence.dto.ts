import { IsInt, Max, Min } from 'class-validator';
import { IsOneLine, RequiredEnum, RequiredField, RequiredText } from '../../../core/http/index.js';
import { EVIDENCE_TYPES, type EvidenceType, MAX_FILE_SIZE } from '../evidence-types.js';

const SIZE = { message: `must be the exact number of bytes, from 1 to ${MAX_FILE_SIZE}` };

/** Body of `POST /v1/med/cases/{id}/evidence`. */
export class CreateEvidenceDto {
  @RequiredText('Under which it is shown and saved; never a path.', 1, 255, 'delivery-receipt.pdf')
  @IsOneLine()
  file_name!: string;

  @RequiredField({
    description: 'Bytes, exactly; at most 10 MB (10485760).',
    type: 'integer',
    minimum: 1,
    maximum: MAX_FILE_SIZE,
    example: 48213,
  })
  @IsInt(SIZE)
  @Min(1, SIZE)
  @Max(MAX_FILE_SIZE, SIZE)
  file_size!: number;

  @RequiredEnum('What the file is; its content is checked.', EVIDENCE_TYPES)
  mime_type!: EvidenceType;
}
