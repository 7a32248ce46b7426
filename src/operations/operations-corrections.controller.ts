import { Body, Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { CurrentActor, CurrentUser, DashboardAuth, type UserPrincipal } from '../auth/index.js';
import { invalidRequest } from '../core/errors/index.js';
import { ApiErrors, ApiRefusal, cursorPage, idCursorFilter, PostOk } from '../core/http/index.js';
import { keyOf } from '../core/idempotency/index.js';
import { parseId } from '../core/ids.js';
import { CorrectionsService } from '../transactions/index.js';
import {
  CorrectionBody,
  CorrectionListBody,
  CorrectPixDto,
  CorrectWalletDto,
  ListCorrectionsQuery,
} from './dto/correction.body.js';
import { correctionBody } from './operations.serializer.js';
import { OperationsService } from './operations.service.js';

const ID = { name: 'id', description: 'Id of the correction.', schema: { type: 'string' as const } };

const KEY_REUSED = { idempotency_key_reused: 'Another correction was made under this key: send a new one.' };

const LOSS_NOT_POSSIBLE = {
  loss_exceeds_charge:
    'It is more than refunds, disputes that hold or have taken money, and the losses entered before have left of the charge, or more comes back than was lost.',
  already_booked:
    'A refund, return, dispute or loss of the charge has this `bank_reference`; a loss that was wrong is entered with the opposite amount first.',
};

const NOT_POSSIBLE = {
  pix_not_in_suspense: 'It is credited, goes back or is closed.',
  pix_not_returnable: 'The acquirer knows no way back.',
  charge_not_payable: 'The message says why.',
  correction_waits: 'Another correction of it waits.',
};

@ApiTags('Operators')
@DashboardAuth('OPERATOR')
@Controller('v1/operations')
export class OperationsCorrectionsController {
  constructor(
    private readonly operations: OperationsService,
    private readonly corrections: CorrectionsService,
  ) {}

  @Get('corrections')
  @ApiOperation({
    summary: 'List corrections of the books',
    description: 'What operators have put right, or want to: those that wait need a second operator. Newest first.',
  })
  @ApiOkResponse({ description: 'A page.', type: CorrectionListBody })
  async list(@Query() query: ListCorrectionsQuery): Promise<CorrectionListBody> {
    const filter = { ...idCursorFilter(query), accountId: query.account_id ?? null, status: query.status ?? null };
    return cursorPage(await this.corrections.list(filter), filter.limit, correctionBody, ({ id }) => id);
  }

  @PostOk('unmatched/:id/correct')
  @ApiOperation({
    summary: 'Put a Pix in suspense right',
    description:
      'One that matches no charge, or that the bank has refused to send back: it is returned, assigned to its charge, or closed. Above `CORRECTION_LIMIT` it waits for a second operator.',
  })
  @ApiParam({ ...ID, description: 'Id of the Pix in `GET /v1/operations/unmatched`.' })
  @ApiOkResponse({ description: 'The correction.', type: CorrectionBody })
  @ApiRefusal(409, { ...NOT_POSSIBLE, ...KEY_REUSED })
  async correctPix(
    @Param('id') id: string,
    @Body() body: CorrectPixDto,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<CorrectionBody> {
    const { kind } = body;
    assertGiven('charge_id', body.charge_id, kind === 'assign');
    assertGiven('bank_reference', body.bank_reference, kind === 'returned_elsewhere');
    const settlementId = parseId(id, [], 'Pix');
    return correctionBody(await this.operations.correct({ ...requested(body), kind, settlementId }, userId, actor));
  }

  @PostOk('corrections')
  @ApiOperation({
    summary: 'Enter a bank fee or a loss',
    description:
      'What a bank has charged or taken and the books do not know, as a return that was made in the bank’s own app of a payment that was credited. Above `CORRECTION_LIMIT` it waits for a second operator.',
  })
  @ApiOkResponse({ description: 'The correction.', type: CorrectionBody })
  @ApiErrors('not_found')
  @ApiRefusal(409, { ...LOSS_NOT_POSSIBLE, ...KEY_REUSED })
  async correctWallet(
    @Body() body: CorrectWalletDto,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<CorrectionBody> {
    const { kind, account_id: accountId, mode, currency = 'BRL', amount, borne_by: borneBy } = body;
    const { acquirer = null, invoice_month: invoiceMonth = null } = body;
    const mayName = kind === 'bank_fee' && mode === 'live' && currency === 'BRL';
    if (!mayName) assertGiven('invoice_month', body.invoice_month, false);
    assertGiven('acquirer', body.acquirer, invoiceMonth !== null);
    return correctionBody(
      await this.operations.correct(
        { ...requested(body), kind, accountId, mode, currency, amount, borneBy, acquirer, invoiceMonth },
        userId,
        actor,
      ),
    );
  }

  @PostOk('corrections/:id/approve')
  @ApiOperation({
    summary: 'Approve a correction',
    description: 'By another operator than the one who asked for it; it is made now. Repeating it changes nothing.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'The correction as decided.', type: CorrectionBody })
  @ApiRefusal(409, {
    second_operator_required: 'Another operator than the one who asked for it has to approve it.',
    correction_already_decided: 'It was rejected.',
    ...NOT_POSSIBLE,
    ...LOSS_NOT_POSSIBLE,
  })
  async approve(
    @Param('id') id: string,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<CorrectionBody> {
    return correctionBody(await this.operations.decideCorrection('approve', correctionId(id), userId, actor));
  }

  @PostOk('corrections/:id/reject')
  @ApiOperation({
    summary: 'Reject a correction',
    description: 'It is not made; whoever asked for it may take it back so. Repeating it changes nothing.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'The correction as decided.', type: CorrectionBody })
  @ApiRefusal(409, { correction_already_decided: 'It was applied.' })
  async reject(
    @Param('id') id: string,
    @CurrentUser() { userId }: UserPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<CorrectionBody> {
    return correctionBody(await this.operations.decideCorrection('reject', correctionId(id), userId, actor));
  }
}

function correctionId(id: string): string {
  return parseId(id, [], 'correction');
}

function requested(body: CorrectPixDto | CorrectWalletDto): {
  idempotencyKey: string;
  reason: string;
  bankReference: string | null;
  transactionId: string | null;
} {
  const { reason, bank_reference: bankReference = null, charge_id } = body;
  const idempotencyKey = keyOf(body.idempotency_key);
  const transactionId = charge_id === undefined ? null : parseId(charge_id, ['ch_', 'tx_'], 'charge');
  return { idempotencyKey, reason, bankReference, transactionId };
}

/** @throws ApiError 400 */
function assertGiven(param: string, value: string | undefined, isWanted: boolean): void {
  if ((value !== undefined) === isWanted) return;
  const message = isWanted ? 'is required with this' : 'is not for this';
  throw invalidRequest([{ param, code: isWanted ? 'required' : 'invalid', message }]);
}
