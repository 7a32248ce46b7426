import { Controller, Get, Headers, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { ApiKeyAuth, Costs, CurrentActor, CurrentScope } from '../auth/index.js';
import { type Draft } from '../core/errors/index.js';
import { ApiRefusal, cursorFilter, cursorPage, DraftBody, PostOk } from '../core/http/index.js';
import { Idempotent, type IdempotentAnswer, REPLAYED_HEADER } from '../core/idempotency/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { TOTALS_DESCRIPTION, TOTALS_TOKENS, TotalsBody, totalsBody } from '../core/totals.js';
import { PaymentLinkBody, PaymentLinkListBody } from './dto/payment-link.body.js';
import { ChangePaymentLinkDto, CreatePaymentLinkDto, ListPaymentLinksQuery } from './dto/payment-link.dto.js';
import { LINK_ID_PREFIXES } from './payment-link.js';
import type { LinkFilter } from './payment-links.repository.js';
import { PaymentLinksService } from './payment-links.service.js';

const LINK_ID = { name: 'id', description: '`pl_<uuid>` or the bare `<uuid>`.', schema: { type: 'string' as const } };

@ApiTags('Payment links')
@ApiKeyAuth()
@Controller('v1/payment-links')
export class PaymentLinksController {
  constructor(private readonly links: PaymentLinksService) {}

  @Post()
  @Idempotent('header')
  @ApiOperation({
    summary: 'Create a payment link',
    description:
      'Its `url` is a page for payers. Each visit that pays makes a charge, whose `metadata.payment_link` is the link’s id.',
  })
  @ApiResponse({ status: 201, description: 'The link.', type: PaymentLinkBody, headers: REPLAYED_HEADER })
  create(
    @CurrentScope() scope: Scope,
    @DraftBody(CreatePaymentLinkDto) draft: Draft<CreatePaymentLinkDto>,
    @Headers('Idempotency-Key') key: string,
    @CurrentActor() actor: Actor,
  ): Promise<IdempotentAnswer<PaymentLinkBody>> {
    return this.links.create(scope, draft, key, actor);
  }

  @Get()
  @ApiOperation({ summary: 'List payment links', description: 'Newest first, by cursor.' })
  @ApiResponse({ status: 200, description: 'A page.', type: PaymentLinkListBody })
  async list(@CurrentScope() scope: Scope, @Query() query: ListPaymentLinksQuery): Promise<PaymentLinkListBody> {
    const filter = filterOf(query);
    const found = await this.links.list(scope, filter);
    return cursorPage(
      found,
      filter.limit,
      (link) => this.links.body(link),
      ({ id }) => id,
    );
  }

  @Get('totals')
  @Costs(() => TOTALS_TOKENS)
  @ApiOperation({
    summary: 'Count payment links',
    description: `${TOTALS_DESCRIPTION} Sums what they were paid.`,
  })
  @ApiResponse({ status: 200, description: 'Count and sums.', type: TotalsBody })
  async count(@CurrentScope() scope: Scope, @Query() query: ListPaymentLinksQuery): Promise<TotalsBody> {
    return totalsBody(await this.links.totals(scope, filterOf(query)));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a payment link', description: 'With what it has sold.' })
  @ApiParam(LINK_ID)
  @ApiResponse({ status: 200, description: 'The link.', type: PaymentLinkBody })
  async get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<PaymentLinkBody> {
    return this.links.body(await this.links.get(scope, bareId(id)));
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change a payment link',
    description: 'Only what is sent changes, and null empties a field. Charges that exist keep their amount.',
  })
  @ApiParam(LINK_ID)
  @ApiResponse({ status: 200, description: 'The link.', type: PaymentLinkBody })
  @ApiRefusal(409, { payment_link_ended: 'An ended link cannot be changed: create another.' })
  async change(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @DraftBody(ChangePaymentLinkDto) draft: Draft<ChangePaymentLinkDto>,
    @CurrentActor() actor: Actor,
  ): Promise<PaymentLinkBody> {
    return this.links.body(await this.links.change(scope, bareId(id), draft, actor));
  }

  @PostOk(':id/end')
  @ApiOperation({
    summary: 'End a payment link',
    description:
      'For good. Its open charges are cancelled, and a Pix that comes later goes back. Repeating is allowed.',
  })
  @ApiParam(LINK_ID)
  @ApiResponse({ status: 200, description: 'The link, ended.', type: PaymentLinkBody })
  async end(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<PaymentLinkBody> {
    return this.links.body(await this.links.end(scope, bareId(id), actor));
  }
}

function bareId(id: string): string {
  return parseId(id, LINK_ID_PREFIXES, 'payment link');
}

function filterOf(query: ListPaymentLinksQuery): LinkFilter {
  const before = query.starting_after === undefined ? null : bareId(query.starting_after);
  return { ...cursorFilter(query), before, status: query.status ?? null };
}
