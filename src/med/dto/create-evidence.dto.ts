import { IsIn, IsInt, Max, Min } from 'class-validator';
import { IsOneLine, IsText, RequiredField } from '../../core/http/index.js';
import { EVIDENCE_TYPES, type EvidenceType, MAX_FILE_SIZE } from '../evidence-types.js';

const SIZE = { message: `must be the exact number of bytes, from 1 to ${MAX_FILE_SIZE}` };

/** Body of `POST /v1/med/cases/{id}/evidence`. */
export class CreateEvidenceDto {
  @RequiredField({
    description: 'Under which it is shown and saved; never a path.',
    minLength: 1,
    maxLength: 255,
    example: 'delivery-receipt.pdf',
  })
  @IsText(1, 255)
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

  @RequiredField({ description: 'What the file is; its content is checked.', enum: EVIDENCE_TYPES })
  @IsIn(EVIDENCE_TYPES, { message: `must be one of ${EVIDENCE_TYPES.join(', ')}` })
  mime_type!: EvidenceType;
}
