import { CA_CERTIFICATE, CLIENT } from '../../tools/psp-simulator/certificates.js';
import { DEFAULT_MERCHANT, type PspSimulator } from '../../tools/psp-simulator/simulator.js';
import { SYSTEM } from '../../src/audit/index.js';
import { type Configuration, type Configured, LiveAcquirersService } from '../../src/acquirers/index.js';
import type { TestService } from './service.js';

/** An account's configuration for the simulator */
export function configurationFor(
  simulator: PspSimulator,
  accountId: string,
  changes: Partial<Configuration> = {},
): Configuration {
  return {
    accountId,
    psp: 'standard',
    pixKey: DEFAULT_MERCHANT.pixKeys[0] ?? '',
    clientId: DEFAULT_MERCHANT.clientId,
    clientSecret: DEFAULT_MERCHANT.clientSecret,
    certificate: {
      pfx: Buffer.from(CLIENT.pfx, 'base64'),
      cert: null,
      key: null,
      passphrase: CLIENT.passphrase,
    },
    ca: CA_CERTIFICATE,
    baseUrl: simulator.baseUrl,
    tokenUrl: simulator.tokenUrl,
    variables: {},
    ...changes,
  };
}

/** Sends the account's live charges to the simulator. */
export function goLive(
  service: TestService,
  simulator: PspSimulator,
  accountId: string,
  changes: Partial<Configuration> = {},
): Promise<Configured> {
  return service.get(LiveAcquirersService).configure(configurationFor(simulator, accountId, changes), SYSTEM);
}
