import { Controller, Delete, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ApiKeysService, RevokedBody } from '../api-keys/index.js';
import type { Actor } from '../audit/index.js';
import { CurrentActor, DashboardAuth } from '../auth/index.js';
import { parseId } from '../core/ids.js';

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations/api-keys')
export class OperationsApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Delete(':id')
  @ApiOperation({ summary: 'Revoke an API key of any account', description: 'It stops working at once, for ever.' })
  @ApiParam({ name: 'id', description: 'Id of the key.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'Revoked.', type: RevokedBody })
  async revoke(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<RevokedBody> {
    await this.keys.revoke(null, parseId(id, [], 'API key'), actor);
    return { revoked: true };
  }
}
