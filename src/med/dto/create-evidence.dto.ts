import { ApiProperty } from '@nestjs/swagger';
import { IsDefined, IsIn, IsInt, Max, Min } from 'class-validator';
import { IsOneLine, IsText } from '../../core/http/index.js';
import { EVIDENCE_TYPES, type EvidenceType, MAX_FILE_SIZE } from '../evidence-types.js';

const SIZE = { message: `must be the exact number of bytes, from 1 to ${MAX_FILE_SIZE}` };

/** Body of `POST /v1/med/cases/{id}/evidence`. */
export class CreateEvidenceDto {
  @ApiProperty({
    description: 'Under which it is shown and saved; never a path.',
    minLength: 1,
    maxLength: 255,
    example: 'delivery-receipt.pdf',
  })
  @IsDefined({ message: 'is required' })
  @IsText(1, 255)
  @IsOneLine()
  file_name!: string;

  @ApiProperty({
    description: 'Bytes, exactly; at most 10 MB (10485760).',
    type: 'integer',
    minimum: 1,
    maximum: MAX_FILE_SIZE,
    example: 48213,
  })
  @IsDefined({ message: 'is required' })
  @IsInt(SIZE)
  @Min(1, SIZE)
  @Max(MAX_FILE_SIZE, SIZE)
  file_size!: number;

  @ApiProperty({ description: 'What the file is; its content is checked.', enum: EVIDENCE_TYPES })
  @IsDefined({ message: 'is required' })
  @IsIn(EVIDENCE_TYPES, { message: `must be one of ${EVIDENCE_TYPES.join(', ')}` })
  mime_type!: EvidenceType;
}
