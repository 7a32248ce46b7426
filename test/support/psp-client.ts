import { expect } from '@jest/globals';
import { Agent, request } from 'undici';
import { CA_CERTIFICATE, CLIENT } from '../../tools/psp-simulator/certificates.js';
import { type Exchange } from '../../tools/psp-simulator/api-server.js';
import { DEFAULT_MERCHANT, PspSimulator, type SimulatorOptions } from '../../tools/psp-simulator/simulator.js';
import { pixApiDocument } from './pix-api-document.js';

const document = pixApiDocument();

export interface PspAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A simulator with a bare HTTP client of one merchant, which shares nothing with the service's own. */
export class PspUnderTest {
  #token: string | null = null;

  private constructor(
    readonly simulator: PspSimulator,
    readonly exchanges: readonly Exchange[],
    readonly agent: Agent,
    readonly credentials: { readonly clientId: string; readonly clientSecret: string },
  ) {}

  static async start(options: SimulatorOptions = {}): Promise<PspUnderTest> {
    const exchanges: Exchange[] = [];
    const simulator = await PspSimulator.start({ observe: (exchange) => exchanges.push(exchange), ...options });
    return new PspUnderTest(simulator, exchanges, clientAgent(), options.merchants?.[0] ?? DEFAULT_MERCHANT);
  }

  /** The client of another merchant at this simulator */
  as(credentials: { readonly clientId: string; readonly clientSecret: string }): PspUnderTest {
    return new PspUnderTest(this.simulator, this.exchanges, this.agent, credentials);
  }

  /**
   * Stops, and fails when an answer, callback or accepted request breaks the official document.
   * @param departures breaches of the document by the simulated PSP that a test expects
   */
  async stop(departures: readonly RegExp[] = []): Promise<void> {
    await this.agent.destroy();
    await this.simulator.stop();
    const faults = this.#contractFaults().filter((fault) => !departures.some((known) => known.test(fault)));
    expect(faults).toEqual([]);
  }

  #contractFaults(): string[] {
    if (document === undefined) return [];
    const official = document;
    const exchanges = this.exchanges.flatMap(({ method, path, query, requestBody, status, responseBody }) => {
      const body = (): unknown => (requestBody === '' ? undefined : JSON.parse(requestBody));
      const accepted = status < 300 ? official.validateRequest(method, path, body(), query) : [];
      // The document lists errors, but not with each operation: all of them are documented as its 503.
      const answered = official.validateResponse(method, path, status < 300 ? status : 503, responseBody);
      return [...accepted, ...answered].map((fault) => `${method} ${path} ${String(status)}: ${fault}`);
    });
    // BACEN's document knows only received Pix: callbacks of sent ones are Efí's own.
    const callbacks = this.simulator.state().callbacks.flatMap(({ pix }) => {
      const received = pix.filter((entry) => !('tipo' in entry));
      return received.length > 0 ? official.validateCallback({ pix: received }) : [];
    });
    return [...exchanges, ...callbacks];
  }

  async token(fields: Readonly<Record<string, string>> = {}): Promise<PspAnswer> {
    const { clientId, clientSecret } = this.credentials;
    const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    return this.send('POST', this.simulator.tokenUrl, {
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString(),
    });
  }

  /** A request of API Pix, with a token that is fetched once. */
  async call(method: 'GET' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object | string): Promise<PspAnswer> {
    this.#token ??= String((await this.token()).body['access_token']);
    return this.send(method, `${this.simulator.baseUrl}${path}`, {
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  /** A request at one of Efí's own paths, as `/v2/gn/saldo`. */
  async callEfi(method: 'GET' | 'POST' | 'PUT', path: string, body?: object | string): Promise<PspAnswer> {
    this.#token ??= String((await this.token()).body['access_token']);
    return this.send(method, `${this.simulator.efiUrl}${path}`, {
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  forgetToken(): void {
    this.#token = null;
  }

  async send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    options: { headers?: Record<string, string>; body?: string; dispatcher?: Agent } = {},
  ): Promise<PspAnswer> {
    const answer = await request(url, { dispatcher: this.agent, headersTimeout: 2_000, ...options, method });
    const text = await answer.body.text();
    const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    return { status: answer.statusCode, headers: answer.headers, body };
  }
}

/** Shows the simulator's client certificate. */
export function clientAgent(): Agent {
  return new Agent({ connect: { ca: CA_CERTIFICATE, cert: CLIENT.cert, key: CLIENT.key } });
}
