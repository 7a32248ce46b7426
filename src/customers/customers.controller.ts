import { Body, Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import { ApiKeyAuth, AtDoorOnly, Costs, CurrentActor, CurrentScope } from '../auth/index.js';
import { ApiRefusal, PostOk } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { TOTALS_DESCRIPTION, TOTALS_TOKENS, TotalsBody } from '../core/totals.js';
import { CUSTOMER_ID_PREFIXES } from './customer.serializer.js';
import { CustomersService } from './customers.service.js';
import {
  CustomerBody,
  CustomerErasureBody,
  CustomerExportBody,
  CustomerListBody,
  CustomerPaymentListBody,
} from './dto/customer.body.js';
import { EraseCustomerDto, ListCustomerPaymentsQuery, ListCustomersQuery } from './dto/customer.dto.js';

const CUSTOMER_ID = {
  name: 'id',
  description: '`cus_<uuid>`, or the id of any of the customer’s sales.',
  schema: { type: 'string' as const },
};

@ApiTags('Customers')
@ApiKeyAuth()
@Controller('v1/customers')
export class CustomersController {
  constructor(private readonly customers: CustomersService) {}

  @Get()
  @ApiOperation({
    summary: 'List customers',
    description:
      'Everybody who has paid, by tax id or else by e-mail; whoever paid last comes first, or whoever bought most. A page may have fewer than `limit` customers and still a `next_cursor`.',
  })
  @ApiResponse({ status: 200, description: 'A page.', type: CustomerListBody })
  list(@CurrentScope() scope: Scope, @Query() query: ListCustomersQuery): Promise<CustomerListBody> {
    return this.customers.list(scope, query);
  }

  @Get('totals')
  @Costs(() => TOTALS_TOKENS)
  @ApiOperation({
    summary: 'Count customers',
    description: `${TOTALS_DESCRIPTION} Sums what they paid. Of an account of 100 000 sales the newest count, with \`more\`.`,
  })
  @ApiResponse({ status: 200, description: 'Count and sums.', type: TotalsBody })
  count(@CurrentScope() scope: Scope, @Query() query: ListCustomersQuery): Promise<TotalsBody> {
    return this.customers.totals(scope, query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a customer', description: 'What one person bought, disputed and got back.' })
  @ApiParam(CUSTOMER_ID)
  @ApiResponse({ status: 200, description: 'The customer.', type: CustomerBody })
  get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<CustomerBody> {
    return this.customers.get(scope, saleId(id));
  }

  @Get(':id/payments')
  @ApiOperation({ summary: 'List the payments of a customer', description: 'Newest payment first, by cursor.' })
  @ApiParam(CUSTOMER_ID)
  @ApiResponse({ status: 200, description: 'A page.', type: CustomerPaymentListBody })
  listCustomerPayments(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Query() query: ListCustomerPaymentsQuery,
  ): Promise<CustomerPaymentListBody> {
    return this.customers.sales(scope, saleId(id), query);
  }

  @PostOk(':id/export')
  @AtDoorOnly('OWNER')
  @ApiOperation({
    summary: 'Export a customer',
    description: 'For an OWNER: everything that is kept about the person in this mode, for a request under the LGPD.',
  })
  @ApiParam(CUSTOMER_ID)
  @ApiResponse({ status: 200, description: 'Everything about the person.', type: CustomerExportBody })
  @ApiRefusal(409, { customer_too_large: 'The customer has more than 10 000 sales.' })
  async export(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<CustomerExportBody> {
    const { transactions = [], payouts = [], ...more } = await this.customers.export(scope, saleId(id), actor);
    const { payout_destinations = [] } = more;
    return {
      object: 'customer_export',
      transactions: [...transactions],
      payouts: [...payouts],
      payout_destinations: [...payout_destinations],
    };
  }

  @PostOk(':id/erase')
  @AtDoorOnly('OWNER')
  @ApiOperation({
    summary: 'Erase a customer',
    description:
      'For an OWNER: blanks the person in the sales and payouts of this mode and in all copies of them, for good. The books stay: amounts, dates, statuses and end-to-end ids.',
  })
  @ApiParam(CUSTOMER_ID)
  @ApiResponse({ status: 200, description: 'What was erased, and what waits.', type: CustomerErasureBody })
  @ApiRefusal(409, { customer_too_large: 'The customer has more than 10 000 sales.' })
  async erase(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: EraseCustomerDto,
    @CurrentActor() actor: Actor,
  ): Promise<CustomerErasureBody> {
    const { erased, waiting } = await this.customers.erase(scope, saleId(id), body.metadata ?? false, actor);
    const left = waiting.map((one) => ({ kind: one.kind, id: one.id, reason: one.waits }));
    return { object: 'customer_erasure', erased, waiting: left };
  }
}

function saleId(id: string): string {
  return parseId(id, CUSTOMER_ID_PREFIXES, 'customer');
}
