import { applyDecorators, Controller, Get, Header, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../auth/index.js';
import { type Config, CONFIG } from '../../core/config/index.js';
import { addressOf, ApiErrors, readBytes, ReadsBody } from '../../core/http/index.js';
import { withSmallUuids } from '../../core/ids.js';
import { NONCE_HEADER, PROOF_HEADER } from './callback-probe.js';
import { CallbacksService, MAX_CALLBACK_BYTES, type PostedCallback } from './callbacks.service.js';

type Address = Pick<PostedCallback, 'connection' | 'secret'>;

const SECRET = {
  name: 'secret',
  description: 'Part of the address that `acquirer configure` registers with the PSP.',
  schema: { type: 'string' as const },
};

const Receives = (path: string): MethodDecorator =>
  applyDecorators(
    Post(path),
    HttpCode(200),
    Header('Cache-Control', 'no-store'),
    ReadsBody(),
    ApiOperation({
      summary: 'A PSP tells of payments and returns',
      description:
        'For PSPs, at an address that only the PSP knows. Stored and answered at once; nothing of it is believed before the PSP has confirmed it when asked. An empty body is a test of the address.',
    }),
    ApiBody({ description: 'As API Pix or the PSP has it.', required: false, schema: { type: 'object' } }),
    ApiOkResponse({ description: 'Stored, now or before.' }),
    ApiErrors('not_found', 'payload_too_large', 'rate_limited', 'internal_error', 'service_unavailable'),
  );

const Tests = (path: string): MethodDecorator =>
  applyDecorators(
    Get(path),
    Header('Cache-Control', 'no-store'),
    ApiOperation({
      summary: 'A PSP tests the address of its callbacks',
      description:
        'Some do when it is registered. `acquirer check` sends a nonce with it, which the service that the address belongs to answers signed.',
    }),
    ApiHeader({ name: 'X-Callback-Nonce', description: '43 characters of base64url', required: false }),
    ApiOkResponse({
      description: 'It is an address of ours.',
      headers: {
        'X-Callback-Proof': { description: 'Where a nonce was sent: its signature.', schema: { type: 'string' } },
      },
    }),
    ApiErrors('not_found', 'rate_limited', 'internal_error', 'service_unavailable'),
  );

/** Endpoint to which PSPs report payments. Some append `/pix` to the registered address, some call it unchanged. */
@Public()
@ApiTags('Callbacks')
@ApiParam(SECRET)
@ApiParam({ name: 'connection', description: 'The connection to the PSP.', schema: { type: 'string', format: 'uuid' } })
@Controller('callbacks/pix')
export class CallbacksController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly callbacks: CallbacksService,
  ) {}

  @Receives(':connection/:secret')
  async receive(@Param() address: Address, @Req() request: Request): Promise<void> {
    await this.#receive(address, request, () => readBytes(request, MAX_CALLBACK_BYTES));
  }

  @Receives(':connection/:secret/pix')
  receivePixCallback(@Param() address: Address, @Req() request: Request): Promise<void> {
    return this.receive(address, request);
  }

  @Tests(':connection/:secret')
  test(
    @Param() address: Address,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    return this.#test(address, request, response);
  }

  @Tests(':connection/:secret/pix')
  testPixCallback(
    @Param() address: Address,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<void> {
    return this.#test(address, request, response);
  }

  async #test(address: Address, request: Request, response: Response): Promise<void> {
    // Why before the check of the caller: `check` is refused as a caller, but must still learn which service it
    // reached.
    const proof = await this.callbacks.prove(
      { ...address, connection: withSmallUuids(address.connection) },
      request.headers[NONCE_HEADER],
    );
    if (proof !== null) response.setHeader(PROOF_HEADER, proof);
    await this.#receive(address, request, () => Promise.resolve(Buffer.alloc(0)));
  }

  #receive({ connection, secret }: Address, request: Request, readBody: PostedCallback['readBody']): Promise<void> {
    const caller = { address: addressOf(request), certified: this.#isCertified(request) };
    return this.callbacks.receive({ connection: withSmallUuids(connection), secret, readBody, caller });
  }

  #isCertified({ ips, headers }: Request): boolean | null {
    const { certificateHeader } = this.config;
    if (certificateHeader === null) return null;
    // If addresses come from X-Forwarded-For, a trusted proxy passed the request on, and the header is the proxy's own.
    return ips.length > 0 && headers[certificateHeader.name] === certificateHeader.value;
  }
}
