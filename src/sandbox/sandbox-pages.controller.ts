import { Controller, Get, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { LimitPerIp, Public } from '../auth/index.js';
import { cardPage, PAGE_HEADERS } from './card.page.js';
import { SandboxPagesService } from './sandbox-pages.service.js';

const TXID = { name: 'txid', description: 'What the sandbox bank knows the payment by.', schema: { type: 'string' } };
const PRIVATE = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow', 'Cache-Control': 'no-store' };

/** Pages of the sandbox bank for payers: the targets of `cardRedirectUrl` and `boletoPdfUrl` of test payments. */
@Public()
@ApiTags('Sandbox')
@ApiParam(TXID)
@Controller('sandbox')
export class SandboxPagesController {
  constructor(private readonly pages: SandboxPagesService) {}

  @Get('cards/:txid')
  @LimitPerIp({ times: 10 })
  @ApiOperation({ summary: 'The page of a test card payment', description: 'What `cardRedirectUrl` points to.' })
  @ApiOkResponse({
    description: 'The page.',
    // Why not @ApiProduces: it would make the errors HTML pages too.
    content: { 'text/html': { schema: { type: 'string' } } },
  })
  async card(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    const { transaction, merchant } = await this.pages.card(txid);
    response.set(PAGE_HEADERS);
    return cardPage(transaction, merchant);
  }

  @Post('cards/:txid/approve')
  @LimitPerIp({ times: 10 })
  @HttpCode(303)
  @ApiOperation({ summary: 'Approve a test card payment', description: 'The button of the page; no body.' })
  @ApiResponse({ status: 303, description: 'To `metadata.returnUrl`, or back to the page.' })
  async approve(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<void> {
    await this.#answer(txid, true, response);
  }

  @Post('cards/:txid/refuse')
  @LimitPerIp({ times: 10 })
  @HttpCode(303)
  @ApiOperation({ summary: 'Refuse a test card payment', description: 'The button of the page; no body.' })
  @ApiResponse({ status: 303, description: 'To `metadata.returnUrl`, or back to the page.' })
  async refuse(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<void> {
    await this.#answer(txid, false, response);
  }

  @Get('boletos/:txid/boleto.pdf')
  @LimitPerIp()
  @ApiOperation({ summary: 'The sheet of a test boleto', description: 'What `boletoPdfUrl` points to.' })
  @ApiOkResponse({
    description: 'One page.',
    content: { 'application/pdf': { schema: { type: 'string', format: 'binary' } } },
  })
  async boleto(@Param('txid') txid: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const pdf = await this.pages.boleto(txid);
    response.set({ ...PRIVATE, 'Content-Type': 'application/pdf', 'X-Content-Type-Options': 'nosniff' });
    return pdf;
  }

  async #answer(txid: string, approved: boolean, response: Response): Promise<void> {
    const returnUrl = await this.pages.answerCard(txid, approved);
    response.set({ ...PRIVATE, Location: returnUrl ?? `/sandbox/cards/${txid}` });
  }
}
