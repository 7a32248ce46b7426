import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentScope, TestKeysOnly } from '../auth/index.js';
import { ApiErrors, ApiRequestId, RESPONSE_HEADERS } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { SandboxEventSchema, SimulateDto } from './dto/simulate.dto.js';
import { type SandboxEventBody, SandboxService } from './sandbox.service.js';

@ApiTags('Sandbox')
@ApiKeyAuth()
@TestKeysOnly()
@ApiRequestId()
@Controller('v1/sandbox')
export class SandboxController {
  constructor(private readonly sandbox: SandboxService) {}

  @Post('charges/:id/simulate')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Make something happen to a test charge',
    description: 'Goes the way of a real acquirer’s notification. A live key gets 404.',
  })
  @ApiParam({ name: 'id', description: '`ch_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The state after it.', type: SandboxEventSchema, headers: RESPONSE_HEADERS })
  @ApiErrors(400, 404, 413, 415)
  simulate(@CurrentScope() scope: Scope, @Param('id') id: string, @Body() dto: SimulateDto): Promise<SandboxEventBody> {
    return this.sandbox.simulate(scope, id, dto);
  }
}
