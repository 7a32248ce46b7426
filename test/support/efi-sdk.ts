import { createRequire } from 'node:module';
import { join } from 'node:path';
import { CA_CERTIFICATE, CLIENT } from '../../tools/psp-simulator/certificates.js';
import { DEFAULT_MERCHANT, type PspSimulator } from '../../tools/psp-simulator/simulator.js';
import { pathOf } from './needs.js';

/** The address that the SDK has for Efí's test environment. */
const EFI = 'https://pix-h.api.efipay.com.br';

type Body = Record<string, unknown>;

/** The methods of Efí's SDK 2 that concern money out. A failed request throws the answer's body. */
export interface EfiClient {
  pixSend(params: { idEnvio: string }, body: object): Promise<Body>;
  pixSendSameOwnership(params: { idEnvio: string }, body: object): Promise<Body>;
  pixQrCodePay(params: { idEnvio: string }, body: object): Promise<Body>;
  pixSendDetail(params: { e2eId: string }): Promise<Body>;
  pixSendDetailId(params: { idEnvio: string }): Promise<Body>;
  pixSendList(params: Record<string, string | number | boolean>): Promise<Body>;
  pixDetailWebhook(params: { chave: string }): Promise<Body>;
  getAccountBalance(params: { bloqueios?: boolean }): Promise<Body>;
}

/** A schema of the SDK, made with its own Zod. */
interface Schema {
  safeParse(value: unknown): { success: boolean; error?: { issues: readonly { path: readonly PropertyKey[] }[] } };
}

interface SdkModule {
  readonly EfiPay: new (options: object) => EfiClient;
  readonly [schema: `${string}Schema`]: Schema;
}

interface RequestConfig {
  url: string;
  proxy: false;
  httpsAgent: { options: { ca?: string } };
}

interface Axios {
  readonly interceptors: {
    readonly request: { use(change: (config: RequestConfig) => RequestConfig): number; eject(id: number): void };
  };
}

/** Efí's own SDK, led to the simulator: the SDK has fixed addresses and trusts only public certificates. */
export class EfiSdk {
  readonly client: EfiClient;
  readonly #module: SdkModule;
  readonly #axios: Axios;
  readonly #interceptor: number;

  constructor(simulator: PspSimulator) {
    const folder = pathOf('efiSdk');
    const load = createRequire(join(folder, 'package.json'));
    this.#module = load(folder) as SdkModule;
    this.#axios = load('axios') as Axios;
    this.#interceptor = this.#axios.interceptors.request.use((config) => {
      config.url = config.url.replace(EFI, simulator.efiUrl);
      config.proxy = false;
      config.httpsAgent.options.ca = CA_CERTIFICATE;
      return config;
    });
    this.client = new this.#module.EfiPay({
      sandbox: true,
      client_id: DEFAULT_MERCHANT.clientId,
      client_secret: DEFAULT_MERCHANT.clientSecret,
      cert_base64: true,
      certificate: Buffer.from(CLIENT.cert).toString('base64'),
      pemKey: Buffer.from(CLIENT.key).toString('base64'),
    });
  }

  /** Paths of the fields that the SDK's schema does not accept; none when it accepts the value. */
  faultsOf(schema: `${string}Schema`, value: unknown): string[] {
    const found = this.#module[schema];
    if (!found) throw new Error(`the SDK has no ${schema}`);
    return (found.safeParse(value).error?.issues ?? []).map(({ path }) => path.map(String).join('.'));
  }

  stop(): void {
    this.#axios.interceptors.request.eject(this.#interceptor);
  }
}
