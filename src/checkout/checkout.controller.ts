import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation, ApiParam, ApiProduces, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { LimitPerIp, Public } from '../auth/index.js';
import { ApiError } from '../core/errors/index.js';
import { ApiErrors, COMMON_HEADERS } from '../core/http/index.js';
import { PAGE_HEADERS } from './checkout.csp.js';
import { checkoutPage, notFoundPage } from './checkout.page.js';
import { CheckoutService } from './checkout.service.js';
import type { CheckoutStatus } from './checkout.view.js';

const TIME = { type: 'string', format: 'date-time', nullable: true };

const STATUS_SCHEMA = {
  type: 'object',
  required: ['status', 'paid_at', 'expires_at'],
  properties: {
    status: {
      type: 'string',
      description: 'Public status of the charge.',
      enum: ['pending', 'processing', 'paid', 'failed', 'expired', 'cancelled', 'refunded', 'disputed'],
    },
    paid_at: { ...TIME, description: 'When it was paid; null until then.', example: '2026-11-21T12:30:00.000Z' },
    expires_at: { ...TIME, description: 'Authoritative expiry; null for none.', example: '2026-11-21T13:00:00.000Z' },
  },
};

/** Providers of mobile networks let many payers share one address. An open page asks for its status again and again. */
const PAYERS_PER_ADDRESS = 10;

/** The page for payers: docs/contract.md#checkout. */
@Public()
@ApiTags('Checkout')
@ApiParam({ name: 'id', description: 'The raw charge id; `ch_<uuid>` is taken too.', schema: { type: 'string' } })
@Controller('checkout')
export class CheckoutController {
  constructor(private readonly checkout: CheckoutService) {}

  @Get(':id')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The hosted checkout page of a charge', description: 'What `checkout_url` points to.' })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The page.', schema: { type: 'string' }, headers: COMMON_HEADERS })
  @ApiNotFoundResponse({ description: 'A page that says so.', schema: { type: 'string' }, headers: COMMON_HEADERS })
  @ApiErrors(429)
  async page(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    try {
      const page = checkoutPage(await this.checkout.view(id));
      response.set(PAGE_HEADERS);
      return page;
    } catch (error) {
      // A payer reads this, not a program: a page instead of the JSON envelope.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      response.status(404).set(PAGE_HEADERS);
      return notFoundPage();
    }
  }

  @Get(':id/status')
  @LimitPerIp({ times: 5 * PAYERS_PER_ADDRESS })
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Whether the charge is paid', description: 'What the open page asks every few seconds.' })
  @ApiOkResponse({ description: 'The state of the charge.', schema: STATUS_SCHEMA, headers: COMMON_HEADERS })
  @ApiErrors(404, 429)
  async status(@Param('id') id: string): Promise<CheckoutStatus> {
    return this.checkout.status(id);
  }

  @Get(':id/qr.png')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The QR code of a charge', description: 'What `pix.qr_code_url` points to.' })
  @ApiOkResponse({
    description: 'Black on white with its quiet zone.',
    // Not @ApiProduces: it would make pictures of the errors too.
    content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
    headers: COMMON_HEADERS,
  })
  @ApiErrors(404, 429)
  async qr(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const png = await this.checkout.qr(id);
    // Set only now: on a 404 `immutable` would keep the picture away from a charge whose code is a moment late.
    response.set({
      'Content-Type': 'image/png',
      'Cache-Control': 'public, max-age=86400, immutable',
      'X-Content-Type-Options': 'nosniff',
      // Merchants show the picture on their own pages.
      'Cross-Origin-Resource-Policy': 'cross-origin',
    });
    return png;
  }
}
