import { Body, Controller, Delete, Get, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../audit/index.js';
import { ApiKeyAuth, AuditedAtDoor, CurrentActor, CurrentScope } from '../../auth/index.js';
import { ApiErrors, ApiRefusal, PostOk } from '../../core/http/index.js';
import { parseId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { medCaseId } from '../cases/med-case-id.js';
import { MED_CASE_ID } from '../desk/med-cases.controller.js';
import { CreateEvidenceDto } from './dto/create-evidence.dto.js';
import { DeletedEvidenceBody, EvidenceBody, EvidenceListBody, EvidenceTicketBody } from './dto/evidence.body.js';
import { UPLOAD_SECONDS } from './evidence-files.service.js';
import { EvidenceRemoval } from './evidence-removal.service.js';
import { evidenceBody, evidenceList, evidenceTicket } from './evidence.serializer.js';
import { EvidenceService, MAX_EVIDENCE } from './evidence.service.js';

@ApiTags('MED')
@ApiKeyAuth()
@ApiParam(MED_CASE_ID)
@Controller('v1/med/cases/:id/evidence')
export class EvidenceController {
  constructor(
    private readonly evidence: EvidenceService,
    private readonly removal: EvidenceRemoval,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List the evidence of a MED case',
    description: 'Confirmed evidence, newest first, all of it. Each `view_url` is made for this answer.',
  })
  @ApiOkResponse({ description: 'The evidence.', type: EvidenceListBody })
  async list(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<EvidenceListBody> {
    return evidenceList(await this.evidence.list(scope, medCaseId(id)));
  }

  @Post()
  @ApiOperation({
    summary: 'Request a URL to upload evidence',
    description: `Step 1 of 3. Then PUT the file to \`upload_url\` with exactly \`upload_headers\`, without API key or Authorization header, and complete it. While the case is open or appealed, and before its deadline; at most ${MAX_EVIDENCE} files for each case, and a quota of bytes for the account. 503 \`service_unavailable\` while the storage is down.`,
  })
  @ApiCreatedResponse({ description: 'Where to upload.', type: EvidenceTicketBody })
  @ApiRefusal(422, {
    evidence_limit_reached: `The case has ${MAX_EVIDENCE} files.`,
    evidence_quota_reached: 'The files of the account are too large together.',
  })
  async request(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: CreateEvidenceDto,
  ): Promise<EvidenceTicketBody> {
    const file = { fileName: body.file_name, fileSize: body.file_size, mimeType: body.mime_type };
    const { evidence, uploadUrl } = await this.evidence.request(scope, medCaseId(id), file);
    return evidenceTicket(evidence, uploadUrl, UPLOAD_SECONDS);
  }

  @PostOk(':evidence_id/complete')
  @AuditedAtDoor('evidence.completed')
  @ApiOperation({
    summary: 'Complete an upload of evidence',
    description:
      'Step 3 of 3; no body. From here on it is listed and counted. Repeating it gives the same evidence. A file that is not what `mime_type` says is a 400: upload another one to the same URL, or request a new one.',
  })
  @ApiParam({ name: 'evidence_id', description: 'Id of the evidence.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'The evidence.', type: EvidenceBody })
  @ApiErrors('invalid_request')
  @ApiRefusal(409, {
    EVIDENCE_NOT_UPLOADED: 'The file is not there, or the URL has expired.',
    EVIDENCE_SIZE_MISMATCH: 'The file has not `file_size` bytes.',
  })
  async complete(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Param('evidence_id') evidenceId: string,
  ): Promise<EvidenceBody> {
    return evidenceBody(await this.evidence.complete(scope, medCaseId(id), parseId(evidenceId, [], 'evidence')));
  }

  @Delete(':evidence_id')
  @ApiOperation({
    summary: 'Delete evidence that is not needed',
    description:
      'A file of a case that is open, or one whose upload was not completed. It is gone for the list and the count at once, and makes room in the quota when its upload URL has ended and what it left is cleaned up. Files of test mode end after 30 days by themselves.',
  })
  @ApiParam({ name: 'evidence_id', description: 'Id of the evidence.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'Deleted.', type: DeletedEvidenceBody })
  @ApiRefusal(409, { evidence_in_use: 'The case is not open any more, so the file is part of its answer.' })
  async remove(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Param('evidence_id') evidenceId: string,
    @CurrentActor() actor: Actor,
  ): Promise<DeletedEvidenceBody> {
    await this.removal.remove(scope, medCaseId(id), parseId(evidenceId, [], 'evidence'), actor);
    return { deleted: true };
  }
}

/** A second name for the same routes, with the same decorators. */
@Controller('v1/infractions/:id/evidence')
export class InfractionsEvidenceController extends EvidenceController {}
