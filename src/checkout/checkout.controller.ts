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
import { LANG, PAYERS_PER_ADDRESS, PICTURE_CONTENT, PICTURE_HEADERS, send } from './answers.js';
import { notFoundPage } from './checkout.layout.js';
import { checkoutPage, noReceiptPage, receiptPage } from './checkout.page.js';
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

/** The page for payers: docs/contract.md#checkout. */
@Public()
@ApiTags('Checkout')
@ApiParam({ name: 'id', description: 'The raw charge id; `ch_<uuid>` is taken too.', schema: { type: 'string' } })
@Controller('checkout')
export class CheckoutController {
  constructor(private readonly checkout: CheckoutService) {}

  @Get(':id')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({
    summary: 'The hosted checkout page of a charge or payment',
    description: 'What `checkout_url` points to.',
  })
  @ApiProduces('text/html')
  @ApiOkResponse({ description: 'The page.', schema: { type: 'string' } })
  @ApiNotFoundResponse({ description: 'A page that says so.', schema: { type: 'string' } })
  @ApiQuery(LANG)
  getCheckoutPage(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, notFoundPage, async (language) =>
      checkoutPage(await this.checkout.view(id), language),
    );
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
  getCheckoutReceipt(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, notFoundPage, async (language) => {
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
    content: PICTURE_CONTENT,
  })
  async getCheckoutLogo(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const { type, bytes } = await this.checkout.logo(id);
    response.set({ ...PICTURE_HEADERS, 'Content-Type': type });
    return bytes;
  }

  @Get(':id/status')
  @LimitPerIp({ times: 5 * PAYERS_PER_ADDRESS })
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Whether the charge is paid', description: 'What the open page asks every few seconds.' })
  @ApiOkResponse({ description: 'The state of the charge.', schema: STATUS_SCHEMA })
  async getCheckoutStatus(@Param('id') id: string): Promise<CheckoutStatus> {
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
  async getCheckoutQr(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
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
