import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, Integer, Text, Time } from '../../../core/http/index.js';
import { EVIDENCE_TYPES } from '../evidence-types.js';

const ID = { description: 'Id of the evidence.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' };
const URL_EXAMPLE = 'https://files.example.com/019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12?expires=1763726400&signature=l2Xw';

export class EvidenceUploadHeadersBody {
  @EnumOf('As declared.', EVIDENCE_TYPES) 'Content-Type'!: string;
  @Text('As declared.', '48213') 'Content-Length'!: string;
}

export class EvidenceTicketBody {
  @ApiProperty(ID) id!: string;
  @EnumOf('Kind of object.', ['med_case_evidence_upload']) object!: 'med_case_evidence_upload';
  @ApiProperty({ description: 'Signed: it is the credential itself.', format: 'uri', example: URL_EXAMPLE })
  upload_url!: string;
  @EnumOf('Method of the upload.', ['PUT']) upload_method!: 'PUT';
  @ApiProperty({ description: 'Send exactly these.', type: EvidenceUploadHeadersBody })
  upload_headers!: EvidenceUploadHeadersBody;
  @Integer('Seconds that the URL holds.', 900) expires_in!: number;
}

export class EvidenceBody {
  @ApiProperty(ID) id!: string;
  @EnumOf('Kind of object.', ['med_case_evidence']) object!: 'med_case_evidence';
  @Text('As you called it.', 'delivery-receipt.pdf') file_name!: string;
  @Integer('Bytes.', 48213) file_size!: number;
  @EnumOf('What the file is.', EVIDENCE_TYPES) mime_type!: string;
  @EnumOf('Who attached it.', ['merchant', 'partner', 'platform']) uploaded_by!: 'merchant' | 'partner' | 'platform';
  @Time('UTC.') created_at!: string;
  @Time('When its upload was confirmed, UTC.') uploaded_at!: string;
  @ApiProperty({ description: 'Signed link to download it, good for 5 minutes.', format: 'uri', example: URL_EXAMPLE })
  view_url!: string;
}

export class EvidenceListBody {
  @EnumOf('Kind of object.', ['list']) object!: 'list';
  @ApiProperty({ description: 'Confirmed evidence, newest first.', type: [EvidenceBody] }) data!: EvidenceBody[];
}

export class DeletedEvidenceBody {
  @EnumOf('The file is gone.', [true]) deleted!: true;
}
