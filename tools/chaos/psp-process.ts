import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import type { FaultRule } from '../psp-simulator/faults.js';
import type { SettingsChange } from '../psp-simulator/settings.js';
import type { SimulatorState } from '../psp-simulator/simulator.js';
import { BuiltProcess } from '../harness/built-process.js';
import type { Cleanup } from '../harness/cleanup.js';

interface Addresses {
  readonly baseUrl: string;
  readonly tokenUrl: string;
  readonly controlUrl: string;
  readonly clientId: string;
  readonly pixKey: string;
}

/** `npm run psp-simulator` in a separate process, controlled by the test as payer, bank and source of faults. */
export class PspProcess {
  private constructor(
    private readonly directory: string,
    private readonly addresses: Addresses,
  ) {}

  /** Devolutions stay under way until they are settled by hand. */
  static async start(parent: string, seed: number, cleanup: Cleanup): Promise<PspProcess> {
    const directory = join(parent, 'psp');
    mkdirSync(directory);
    const program = {
      script: 'tools/psp-simulator/main.js',
      args: [
        ...['--port', '0', '--control-port', '0', '--seed', String(seed)],
        ...['--return-delay-ms', 'manual', '--directory', directory],
      ],
      logPath: join(parent, 'psp.log'),
      ready: readAddresses,
    };
    return new PspProcess(directory, (await BuiltProcess.start(program, cleanup)).said);
  }

  /** Arguments of `acquirer configure`, with the files from the PSP. */
  get configuration(): string[] {
    const { baseUrl, tokenUrl, clientId, pixKey } = this.addresses;
    const file = (name: string): string => join(this.directory, name);
    return [
      ...[
        '--psp',
        'standard',
        '--key',
        pixKey,
        '--client-id',
        clientId,
        '--base-url',
        baseUrl,
        '--token-url',
        tokenUrl,
      ],
      ...['--client-secret-file', file('client-secret'), '--cert', file('client.crt')],
      ...['--key-file', file('client.key'), '--ca', file('ca.crt')],
    ];
  }

  async pay(payment: { txid: string; endToEndId?: string; force?: boolean }): Promise<void> {
    await this.#post('pay', payment);
  }

  async settleReturn(settlement: {
    endToEndId: string;
    id: string;
    status: 'DEVOLVIDO' | 'NAO_REALIZADO';
  }): Promise<void> {
    await this.#post('settleReturn', settlement);
  }

  /** Arguments of a connection with Efí's profile. */
  get efi(): { readonly baseUrl: string; readonly tokenUrl: string } {
    const { baseUrl, tokenUrl } = this.addresses;
    return { baseUrl: new URL(baseUrl).origin, tokenUrl };
  }

  async addMerchant(merchant: { clientId: string; clientSecret: string; pixKeys: string[] }): Promise<void> {
    await this.#post('addMerchant', merchant);
  }

  async change(change: SettingsChange): Promise<void> {
    await this.#post('change', change);
  }

  /** Pays or rejects a send, also a paid one. */
  async settleSend(settlement: { idEnvio: string; status: 'REALIZADO' | 'NAO_REALIZADO' }): Promise<void> {
    await this.#post('settleSend', settlement);
  }

  /** A part of a paid send comes back. */
  async returnSend(part: { idEnvio: string; amount: number }): Promise<void> {
    await this.#post('returnSend', part);
  }

  async addFaults(rules: readonly FaultRule[]): Promise<void> {
    for (const rule of rules) await this.#post('addFault', rule);
  }

  async clearFaults(): Promise<void> {
    await this.#post('clearFaults', {});
  }

  async state(): Promise<SimulatorState> {
    const { body } = await request(`${this.addresses.controlUrl}/state`);
    return (await body.json()) as SimulatorState;
  }

  async #post(action: string, input: object): Promise<void> {
    const { controlUrl } = this.addresses;
    const { statusCode, body } = await request(`${controlUrl}/${action}`, {
      method: 'POST',
      body: JSON.stringify(input),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`The PSP does not ${action}: ${String(statusCode)} ${text}`);
  }
}

function readAddresses(output: string): Addresses | null {
  const after = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? '';
  // The last line that the process prints.
  if (!output.includes('/clearFaults\n')) return null;
  return {
    baseUrl: after(/^ {2}API +(\S+)$/m),
    tokenUrl: after(/^ {2}token +(\S+)$/m),
    controlUrl: after(/^ {2}control +(\S+)$/m),
    clientId: after(/^ {2}client +([^\s,]+),/m),
    pixKey: after(/^ {2}client .*Pix key (\S+)$/m),
  };
}
