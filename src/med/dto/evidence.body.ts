import { ApiProperty } from '@nestjs/swagger';
import { EVIDENCE_TYPES } from '../evidence-types.js';

const ID = { description: 'Id of the evidence.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' };
const URL_EXAMPLE = 'https://files.example.com/019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12?expires=1763726400&signature=…';
const TIME = { description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' };

export class EvidenceUploadHeadersBody {
  @ApiProperty({ description: 'As declared.', enum: EVIDENCE_TYPES }) 'Content-Type'!: string;
  @ApiProperty({ description: 'As declared.', example: '48213' }) 'Content-Length'!: string;
}

export class EvidenceTicketBody {
  @ApiProperty(ID) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['med_case_evidence_upload'] })
  object!: 'med_case_evidence_upload';
  @ApiProperty({ description: 'Signed: it is the credential itself.', format: 'uri', example: URL_EXAMPLE })
  upload_url!: string;
  @ApiProperty({ description: 'Method of the upload.', enum: ['PUT'] }) upload_method!: 'PUT';
  @ApiProperty({ description: 'Send exactly these.', type: EvidenceUploadHeadersBody })
  upload_headers!: EvidenceUploadHeadersBody;
  @ApiProperty({ description: 'Seconds that the URL holds.', type: 'integer', example: 900 }) expires_in!: number;
}

export class EvidenceBody {
  @ApiProperty(ID) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['med_case_evidence'] }) object!: 'med_case_evidence';
  @ApiProperty({ description: 'As you called it.', example: 'delivery-receipt.pdf' }) file_name!: string;
  @ApiProperty({ description: 'Bytes.', type: 'integer', example: 48213 }) file_size!: number;
  @ApiProperty({ description: 'What the file is.', enum: EVIDENCE_TYPES }) mime_type!: string;
  @ApiProperty({ description: 'Who attached it.', enum: ['merchant', 'partner', 'platform'] })
  uploaded_by!: 'merchant' | 'partner' | 'platform';
  @ApiProperty(TIME) created_at!: string;
  @ApiProperty({ ...TIME, description: 'When its upload was confirmed, UTC.' }) uploaded_at!: string;
  @ApiProperty({ description: 'Signed link to download it, good for 5 minutes.', format: 'uri', example: URL_EXAMPLE })
  view_url!: string;
}

export class EvidenceListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: 'list';
  @ApiProperty({ description: 'Confirmed evidence, newest first.', type: [EvidenceBody] }) data!: EvidenceBody[];
}

export class DeletedEvidenceBody {
  @ApiProperty({ description: 'The file is gone.', enum: [true] }) deleted!: true;
}
