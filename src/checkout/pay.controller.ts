import { randomBytes } from 'node:crypto';
import { Controller, Get, Header, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { readPicture } from '../accounts/index.js';
import { cookieNamed, LimitPerIp, Public } from '../auth/index.js';
import { qrPng, qrSvg } from '../brazil/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { ApiError, notFound } from '../core/errors/index.js';
import { isOwnPage, readBytes, ReadsBody } from '../core/http/index.js';
import { PaymentLinkVisits, type VisitedLink } from '../payment-links/index.js';
import { LANG, PAYERS_PER_ADDRESS, PICTURE_CONTENT, PICTURE_HEADERS, send } from './answers.js';
import type { Page } from './checkout.layout.js';
import type { Language } from './checkout.texts.js';
import { EMPTY_FORM, readForm } from './pay.form.js';
import { closedPage, foreignPage, linkNotFoundPage, payPage, posterPage, refusedPage } from './pay.page.js';

const VISIT_COOKIE = 'recebe_visit';
const VISIT_MS = 3_600_000;
const VISIT = /^[\w-]{22}$/;
const MAX_FORM_BYTES = 16 * 1024;
const HTML = { 'text/html': { schema: { type: 'string' as const } } };
const RETRY_AFTER = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' as const } } };
const FORM_SCHEMA = {
  type: 'object',
  properties: Object.fromEntries(
    ['visit', 'amount', 'name', 'tax_id', 'email', 'phone', 'answer'].map((name) => [
      name,
      { type: 'string', description: 'A field of the page.' },
    ]),
  ),
};

/** The page of a payment link, which makes the charge of a visit: docs/payment-links.md. */
@Public()
@ApiTags('Checkout')
@ApiParam({ name: 'id', description: 'The end of the link’s `url`.', schema: { type: 'string' } })
@Controller('pay')
export class PayController {
  readonly #baseUrl: string;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly visits: PaymentLinkVisits,
  ) {
    this.#baseUrl = config.publicBaseUrl;
  }

  @Get(':id')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The page of a payment link', description: 'What `url` of a payment link points to.' })
  @ApiQuery(LANG)
  @ApiResponse({ status: 200, description: 'The page, with a form.', content: HTML })
  @ApiResponse({ status: 404, description: 'A page that says so.', content: HTML })
  @ApiResponse({ status: 410, description: 'A page that says why the link takes no more payments.', content: HTML })
  getPayPage(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, linkNotFoundPage, async (language) => {
      const visited = await this.visits.find(id);
      if (visited.closed !== null) return this.#closed(visited, language, response);
      return payPage(visited, this.#visitOf(request, response), EMPTY_FORM, language);
    });
  }

  @Post(':id')
  @HttpCode(303)
  @ReadsBody()
  @LimitPerIp({ times: 2 })
  @ApiOperation({
    summary: 'Pay by a payment link',
    description: 'The form of the page. The same visit with the same fields gets the same charge.',
  })
  @ApiQuery(LANG)
  @ApiBody({ required: true, schema: FORM_SCHEMA, description: 'As `application/x-www-form-urlencoded`.' })
  @ApiResponse({ status: 303, description: 'To the checkout page of the charge.' })
  @ApiResponse({ status: 400, description: 'The page, with the fields to correct.', content: HTML })
  @ApiResponse({ status: 403, description: 'A page: another site has sent the form, or it is refused.', content: HTML })
  @ApiResponse({ status: 404, description: 'A page that says so.', content: HTML })
  @ApiResponse({ status: 409, description: 'The page, to try again.', content: HTML })
  @ApiResponse({ status: 410, description: 'A page that says why the link takes no more payments.', content: HTML })
  @ApiResponse({ status: 422, description: 'A page: the charge cannot be made.', content: HTML })
  @ApiResponse({ status: 503, description: 'The page, to try again.', content: HTML, headers: RETRY_AFTER })
  payByLink(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, linkNotFoundPage, async (language) => {
      const visited = await this.visits.find(id);
      if (visited.closed !== null) return this.#closed(visited, language, response);
      if (!isOwnPage(request.headers, new URL(this.#baseUrl).origin)) {
        response.status(403);
        return foreignPage(language);
      }
      const isForm = request.is('application/x-www-form-urlencoded') !== false;
      const sent = isForm ? await readBytes(request, MAX_FORM_BYTES) : null;
      return this.#pay(visited, new URLSearchParams(sent?.toString('utf8') ?? ''), language, request, response);
    });
  }

  @Get(':id/print')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'A payment link to print', description: 'A page with a QR code that opens the link.' })
  @ApiQuery(LANG)
  @ApiResponse({ status: 200, description: 'The page.', content: HTML })
  @ApiResponse({ status: 404, description: 'A page that says so.', content: HTML })
  getPayPoster(
    @Param('id') id: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return send(request, response, linkNotFoundPage, async (language) =>
      posterPage(await this.visits.find(id), language),
    );
  }

  @Get(':id/qr.png')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @Header('Content-Type', 'image/png')
  @ApiOperation({ summary: 'The QR code of a payment link', description: 'What `qr_code_url` points to.' })
  @ApiOkResponse({
    description: 'Black on white with its quiet zone.',
    content: { 'image/png': { schema: { type: 'string', format: 'binary' } } },
  })
  async getPayQrPng(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const url = await this.#urlOf(id);
    response.set({ ...PICTURE_HEADERS, 'Cross-Origin-Resource-Policy': 'cross-origin' });
    return qrPng(url);
  }

  @Get(':id/qr.svg')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @Header('Content-Type', 'image/svg+xml')
  @ApiOperation({ summary: 'The QR code of a payment link as SVG', description: 'To print it in any size.' })
  @ApiOkResponse({
    description: 'Black on white with its quiet zone.',
    content: { 'image/svg+xml': { schema: { type: 'string' } } },
  })
  async getPayQrSvg(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    const url = await this.#urlOf(id);
    response.set({ ...PICTURE_HEADERS, 'Cross-Origin-Resource-Policy': 'cross-origin' });
    return qrSvg(url);
  }

  @Get(':id/picture')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The picture of a payment link', description: 'What the page shows.' })
  @ApiOkResponse({ description: 'PNG, JPEG or WebP.', content: PICTURE_CONTENT })
  async getPayPicture(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const { type, bytes } = await this.visits.picture(id);
    response.set({ ...PICTURE_HEADERS, 'Content-Type': type });
    return bytes;
  }

  @Get(':id/logo')
  @LimitPerIp({ times: PAYERS_PER_ADDRESS })
  @ApiOperation({ summary: 'The logo of a payment link’s merchant', description: 'What the page shows.' })
  @ApiOkResponse({ description: 'PNG, JPEG or WebP.', content: PICTURE_CONTENT })
  async getPayLogo(@Param('id') id: string, @Res({ passthrough: true }) response: Response): Promise<Buffer> {
    const { account } = await this.visits.find(id);
    const picture = account.logo === null ? null : readPicture(account.logo);
    if (!picture) throw notFound('logo');
    response.set({ ...PICTURE_HEADERS, 'Content-Type': picture.type });
    return picture.bytes;
  }

  async #pay(
    visited: VisitedLink,
    sent: URLSearchParams,
    language: Language,
    request: Request,
    response: Response,
  ): Promise<Page> {
    const form = await readForm(visited.link, sent);
    const visit = sent.get('visit') ?? '';
    if (form.answers === null || !VISIT.test(visit)) {
      response.status(400);
      return payPage(visited, VISIT.test(visit) ? visit : this.#visitOf(request, response), form, language);
    }
    try {
      const charge = await this.visits.pay(visited, visit, form.answers);
      if (charge === null) return this.#closed(await this.visits.find(visited.link.shortId), language, response);
      // Relative, for a proxy that serves the pages under another path.
      response.set('Location', `../checkout/${charge.id.slice('ch_'.length)}?lang=${language}`);
      return { html: '', ownStyle: '' };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isPassing = error.status === 409 || error.status === 429 || error.status >= 500;
      response.status(error.status).set({ ...(isPassing ? { 'Retry-After': '5' } : {}), ...error.headers });
      return isPassing ? payPage(visited, visit, form, language, true) : refusedPage(visited, language);
    }
  }

  #closed(visited: VisitedLink, language: Language, response: Response): Page {
    response.status(410);
    return closedPage(visited, visited.closed ?? 'ended', language);
  }

  /** Returns the visit of the browser, or begins one: a page that is loaded again belongs to the same visit. */
  #visitOf(request: Request, response: Response): string {
    const known = cookieNamed(request.headers.cookie, VISIT_COOKIE);
    const visit = known !== null && VISIT.test(known) ? known : randomBytes(16).toString('base64url');
    const secure = this.#baseUrl.startsWith('https:');
    const path = new URL(request.originalUrl, 'http://localhost').pathname;
    response.cookie(VISIT_COOKIE, visit, { httpOnly: true, sameSite: 'lax', secure, path, maxAge: VISIT_MS });
    return visit;
  }

  async #urlOf(shortId: string): Promise<string> {
    const { link } = await this.visits.find(shortId);
    return `${this.#baseUrl}/pay/${link.shortId}`;
  }
}
