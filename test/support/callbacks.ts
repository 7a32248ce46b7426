import { randomUUID } from 'node:crypto';
import { AcquirersService, ConnectionsService } from '../../src/acquirers/index.js';
import type { CallbackCaller } from '../../src/acquirers/pix-api/connections.service.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { FarBank } from './far-bank.js';
import type { Answer, TestService } from './service.js';

interface Told {
  readonly endToEndId: string;
}

/** A far bank that posts to the address of its connection. */
export class CallingBank extends FarBank {
  inbound: CallbackCaller['inbound'] = { mtls: false, addresses: null };
  readonly secret: string;

  constructor(
    private readonly service: TestService,
    readonly connection = randomUUID(),
  ) {
    super(`pix-api:${connection}`);
    this.secret = service.get(SecretBox).sign('pix-callback', connection);
    this.serve();
    const connections = service.get(ConnectionsService);
    const callerOf = connections.callerOf.bind(connections);
    // Several banks answer for one connection each.
    connections.callerOf = async (id) =>
      id === this.connection ? { inbound: this.inbound, oldestSecret: 1, newestSecret: 1 } : callerOf(id);
  }

  /** Makes this bank serve charges of test mode. */
  serve(): void {
    this.service.get(AcquirersService).register(this, { servesTestMode: true });
  }

  /** Posts any Pix that a test wants to report, true or not. */
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
