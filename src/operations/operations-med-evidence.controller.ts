import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { DashboardAuth } from '../auth/index.js';
import { parseId } from '../core/ids.js';
import { evidenceList, EvidenceListBody, EvidenceService, MedDesk } from '../med/index.js';

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations/med/:id/evidence')
export class OperationsMedEvidenceController {
  constructor(
    private readonly desk: MedDesk,
    private readonly evidence: EvidenceService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List the evidence of a MED case as an operator',
    description: 'As the merchant sees it: confirmed evidence, newest first, with links made for this answer.',
  })
  @ApiParam({ name: 'id', description: 'Id of the case.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'The evidence.', type: EvidenceListBody })
  async list(@Param('id') id: string): Promise<EvidenceListBody> {
    const medCase = await this.desk.find(parseId(id, ['med_'], 'MED case'));
    return evidenceList(await this.evidence.listAny(medCase));
  }
}
