import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { LimitPerIp, Public } from '../auth/index.js';
import { LANG, notFoundPage, send } from '../checkout/index.js';
import { cardPage } from './card.page.js';
import { SandboxPagesService } from './sandbox-pages.service.js';

const TXID = { name: 'txid', description: 'What the sandbox bank knows the payment by.', schema: { type: 'string' } };
const HTML = { 'text/html': { schema: { type: 'string' as const } } };
const PRIVATE = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow', 'Cache-Control': 'no-store' };

/** Pages of the sandbox bank for payers: the targets of `cardRedirectUrl` and `boletoPdfUrl` of test payments. */
@Public()
@ApiTags('Sandbox pages')
@ApiParam(TXID)
@Controller('sandbox')
export class SandboxPagesController {
  constructor(private readonly pages: SandboxPagesService) {}

  @Get('cards/:txid')
  @LimitPerIp({ times: 10 })
  @ApiOperation({ summary: 'The page of a test card payment', description: 'What `cardRedirectUrl` points to.' })
  @ApiQuery(LANG)
  @ApiResponse({ status: 200, description: 'The page.', content: HTML })
  @ApiResponse({ status: 404, description: 'A page that says so.', content: HTML })
  getTestCardPage(
    @Param('txid') txid: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, notFoundPage, async (language) => cardPage(await this.pages.card(txid), language));
  }

  @Post('cards/:txid/approve')
  @LimitPerIp({ times: 10 })
  @HttpCode(303)
  @ApiOperation({ summary: 'Approve a test card payment', description: 'The button of the page; no body.' })
  @ApiResponse({ status: 303, description: 'To `metadata.returnUrl`, or to the checkout of the payment.' })
  async approveTestCard(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<void> {
    await this.#answer(txid, true, response);
  }

  @Post('cards/:txid/refuse')
  @LimitPerIp({ times: 10 })
  @HttpCode(303)
  @ApiOperation({ summary: 'Refuse a test card payment', description: 'The button of the page; no body.' })
  @ApiResponse({ status: 303, description: 'To `metadata.returnUrl`, or to the checkout of the payment.' })
  async refuseTestCard(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<void> {
    await this.#answer(txid, false, response);
  }

  @Get('boletos/:txid/boleto.pdf')
  @LimitPerIp()
  @ApiOperation({ summary: 'The sheet of a test boleto', description: 'What `boletoPdfUrl` points to.' })
  @ApiOkResponse({
    description: 'One page.',
    content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
  })
  async getTestBoleto(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const pdf = await this.pages.boleto(txid);
    response.set({ ...PRIVATE, 'Content-Type': 'application/pdf', 'X-Content-Type-Options': 'nosniff' });
    return pdf;
  }

  async #answer(txid: string, approved: boolean, response: Response): Promise<void> {
    response.set({ ...PRIVATE, Location: await this.pages.answerCard(txid, approved) });
  }
}
