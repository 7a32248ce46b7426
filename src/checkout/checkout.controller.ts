import { Controller, Get, Header, Param, Req, Res } from '@nestjs/common';
import {
  ApiNotFoundResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiQuery,
  ApiTags,
} from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { LimitPerIp, Public } from '../auth/index.js';
import { ApiError } from '../core/errors/index.js';
import { pageHeaders } from './checkout.csp.js';
import { checkoutPage, noReceiptPage, notFoundPage, type Page, receiptPage } from './checkout.page.js';
import { CheckoutService } from './checkout.service.js';
import { type Language, LANGUAGES } from './checkout.texts.js';
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

const LOGO_TYPES = ['image/png', 'image/jpeg', 'image/webp'];

/** Mobile networks share one address among many payers, and an open page polls its status. */
const PAYERS_PER_ADDRESS = 10;

const LANG = {
  name: 'lang',
  required: false,
  description: 'Language of the page, in place of the browser’s.',
  schema: { type: 'string' as const, enum: [...LANGUAGES] },
};

/** Returns the language chosen on the page, else the browser's preference; Portuguese for all other languages. */
function languageOf(request: Request): Language {
  const chosen = LANGUAGES.find((language) => language === request.query['lang']);
  return chosen ?? (request.acceptsLanguages([...LANGUAGES]) === 'en' ? 'en' : 'pt');
}

/** Sends a page instead of JSON, also for a 404: a payer reads it, not a program. */
async function send(
  request: Request,
  response: Response,
  make: (language: Language) => Promise<Page>,
): Promise<string> {
  const language = languageOf(request);
  const { html, ownStyle } = await make(language).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    response.status(404);
    return notFoundPage(language);
  });
  response.set(pageHeaders(ownStyle));
  return html;
}

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
  @ApiOkResponse({ description: 'The page.', schema: { type: 'string' } })
  @ApiNotFoundResponse({ description: 'A page that says so.', schema: { type: 'string' } })
  @ApiQuery(LANG)
  page(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, async (language) => checkoutPage(await this.checkout.view(id), language));
  }

  @Get(':id/receipt')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({
    summary: 'The receipt of a payment',
    description: 'A page to keep and print, of a payment by any method, for 30 days after it.',
  })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The page.', schema: { type: 'string' } })
  @ApiNotFoundResponse({ description: 'A page that says so.', schema: { type: 'string' } })
  @ApiQuery(LANG)
  receipt(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, async (language) => {
      const receipt = await this.checkout.receipt(id);
      if (receipt) return receiptPage(receipt, language);
      response.status(404);
      return noReceiptPage(language);
    });
  }

  @Get(':id/logo')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The logo of a charge’s merchant', description: 'What the page shows.' })
  @ApiOkResponse({
    description: 'PNG, JPEG or WebP.',
    content: Object.fromEntries(LOGO_TYPES.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])),
  })
  async logo(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const { type, bytes } = await this.checkout.logo(id);
    response.set({
      'Content-Type': type,
      'Cache-Control': 'public, max-age=3600',
      'X-Content-Type-Options': 'nosniff',
    });
    return bytes;
  }

  @Get(':id/status')
  @LimitPerIp({ times: 5 * PAYERS_PER_ADDRESS })
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Whether the charge is paid', description: 'What the open page asks every few seconds.' })
  @ApiOkResponse({ description: 'The state of the charge.', schema: STATUS_SCHEMA })
  async status(@Param('id') id: string): Promise<CheckoutStatus> {
    return this.checkout.status(id);
  }

  @Get(':id/qr.png')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The QR code of a charge', description: 'What `pix.qr_code_url` points to.' })
  @ApiOkResponse({
    description: 'Black on white with its quiet zone.',
    // @ApiProduces would declare the errors as pictures too.
    content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
  })
  async qr(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const png = await this.checkout.qr(id);
    // The headers are set after the code was found: `immutable` on a 404 would hide a code that arrives a moment later.
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
