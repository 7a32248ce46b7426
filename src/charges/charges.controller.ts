import { Controller, Get, Headers, Param, Post, Query, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, AuditedAtDoor, type ScopedCaller, CurrentCaller, CurrentScope } from '../auth/index.js';
import { Draft } from '../core/errors/index.js';
import { ApiErrors, ApiRefusal, DraftBody, FRAUD_ERRORS } from '../core/http/index.js';
import { Idempotent, type IdempotentAnswer, REPLAYED_HEADER } from '../core/idempotency/index.js';
import type { Scope } from '../core/mode.js';
import { ChargeListGuard } from './charge-list.guard.js';
import { ChargeList } from './charge-list.service.js';
import { ChargesService } from './charges.service.js';
import { ChargeBody, ChargeListBody } from './dto/charge.body.js';
import { CreateChargeDto, CreatePixChargeDto } from './dto/create-charge.dto.js';
import { ListChargesQuery } from './dto/list-charges.query.js';

const CREATED = {
  status: 201,
  description: 'The charge, with what the payer needs.',
  type: ChargeBody,
  headers: REPLAYED_HEADER,
};

@ApiTags('Charges')
@ApiKeyAuth()
@Controller('v1')
export class ChargesController {
  constructor(
    private readonly charges: ChargesService,
    private readonly pages: ChargeList,
  ) {}

  @Post('charges')
  @AuditedAtDoor('payment.created')
  @Idempotent('header')
  @ApiOperation({ summary: 'Create a charge', description: 'Answers with the BR Code and the address of its QR code.' })
  @ApiResponse(CREATED)
  @ApiErrors(...FRAUD_ERRORS, 'no_provider_configured', 'provider_unavailable')
  @ApiRefusal(422, { charge_refused: 'The bank or PSP refused the charge; the message says why.' })
  create(
    @CurrentCaller() { accountId, mode, account }: ScopedCaller,
    @DraftBody(CreateChargeDto) draft: Draft<CreateChargeDto>,
    @Headers('Idempotency-Key') key: string,
  ): Promise<IdempotentAnswer<ChargeBody>> {
    return this.charges.create({ accountId, mode }, account, draft, key);
  }

  @Post('pix/charges')
  @AuditedAtDoor('payment.created')
  @Idempotent('header')
  @ApiOperation({
    summary: 'Create a Pix charge',
    description: 'Shortcut: as POST /v1/charges with `payment_method` fixed to `pix`. Keys are shared by the two.',
  })
  @ApiResponse(CREATED)
  @ApiErrors(...FRAUD_ERRORS, 'no_provider_configured', 'provider_unavailable')
  @ApiRefusal(422, { charge_refused: 'The bank or PSP refused the charge; the message says why.' })
  createPixCharge(
    @CurrentCaller() { accountId, mode, account }: ScopedCaller,
    @DraftBody(CreatePixChargeDto) draft: Draft<CreatePixChargeDto>,
    @Headers('Idempotency-Key') key: string,
  ): Promise<IdempotentAnswer<ChargeBody>> {
    return this.charges.create({ accountId, mode }, account, draft, key);
  }

  @Get('charges/:id')
  @ApiOperation({
    summary: 'Read a charge',
    description: 'For one-off checks; learn of payments by webhook instead of polling.',
  })
  @ApiParam({ name: 'id', description: '`ch_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiResponse({ status: 200, description: 'The charge.', type: ChargeBody })
  get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ChargeBody> {
    return this.charges.get(scope, id);
  }

  @Get('charges')
  @UseGuards(ChargeListGuard)
  @ApiOperation({
    summary: 'List charges',
    description:
      'Newest first, by cursor. Answers 404, whatever is asked, unless the service runs with CHARGE_LIST_ENABLED=true.',
  })
  @ApiResponse({ status: 200, description: 'A page.', type: ChargeListBody })
  @ApiErrors('not_found')
  list(@CurrentScope() scope: Scope, @Query() query: ListChargesQuery): Promise<ChargeListBody> {
    return this.pages.page(scope, query);
  }
}
