import { randomUUID } from 'node:crypto';
import {
  AcquirersService,
  type CallbackSource,
  CallbackSources,
  type NotificationHint,
} from '../../src/acquirers/index.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { FarBank } from './far-bank.js';
import type { Answer, TestService } from './service.js';

interface Told {
  readonly endToEndId: string;
  readonly devolucoes?: readonly { readonly id: string; readonly status: string }[];
}

/** As API Pix has the body of a callback, as far as these tests send it. */
function read(body: unknown): NotificationHint[] {
  const { pix } = body as { pix: readonly Told[] };
  return pix.flatMap(({ endToEndId, devolucoes = [] }) => [
    { kind: 'pix' as const, reference: endToEndId },
    ...devolucoes.map(({ id, status }) => ({ kind: 'return' as const, reference: `${endToEndId}/${id}/${status}` })),
  ]);
}

/** A far bank that posts to the address of its connection. */
export class CallingBank extends FarBank {
  inbound: CallbackSource['inbound'] = { mtls: false, addresses: null };
  readonly secret: string;

  constructor(
    private readonly service: TestService,
    readonly connection = randomUUID(),
  ) {
    super(`pix-api:${connection}`);
    this.secret = service.get(SecretBox).sign('pix-callback', connection);
    this.serve();
    service
      .get(CallbackSources)
      .add(async (acquirer) => (acquirer === this.name ? { inbound: this.inbound, read } : null));
  }

  /** From now on charges of test mode are its own. */
  serve(): void {
    this.service.get(AcquirersService).register(this, { servesTestMode: true });
  }

  /** Of what it says itself, whatever is true. */
  post(
    pix: readonly (Told & Record<string, unknown>)[],
    suffix = '',
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.send(JSON.stringify({ pix }), suffix, headers);
  }

  send(rawBody: string | Buffer, suffix = '', headers: Record<string, string> = {}): Promise<Answer> {
    return this.service.call('POST', `${this.path}${suffix}`, { rawBody, headers });
  }

  get path(): string {
    return `/callbacks/pix/${this.connection}/${this.secret}`;
  }
}
