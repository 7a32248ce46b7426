import { callbackUrl } from '../../src/acquirers/index.js';
import { SYSTEM } from '../../src/audit/index.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { LiveAcquirersService } from '../../src/live-acquirers/index.js';
import { CA_CERTIFICATE, CLIENT } from '../../psp-simulator/certificates.js';
import { PspUnderTest } from './psp-client.js';
import type { TestService } from './service.js';

/** An account's connection to a PSP that is simulated, configured as on the command line. */
export interface LivePsp {
  readonly psp: PspUnderTest;
  readonly acquirer: string;
  readonly pixKey: string;
  /** Where it may call back; nobody has told it. */
  readonly callbackUrl: string;
}

export async function aLivePsp(service: TestService, accountId: string): Promise<LivePsp> {
  const psp = await PspUnderTest.start({ now: () => service.clock.now(), settings: { returnDelayMs: 50 } });
  const pixKey = psp.simulator.state().merchants[0]?.pixKeys[0] ?? '';
  const { id, acquirer } = await service.get(LiveAcquirersService).configure(
    {
      accountId,
      psp: 'standard',
      pixKey,
      ...psp.credentials,
      certificate: { pfx: null, cert: Buffer.from(CLIENT.cert), key: Buffer.from(CLIENT.key), passphrase: null },
      ca: CA_CERTIFICATE,
      baseUrl: psp.simulator.baseUrl,
      tokenUrl: psp.simulator.tokenUrl,
      variables: {},
    },
    SYSTEM,
  );
  return { psp, acquirer, pixKey, callbackUrl: callbackUrl(service.url, service.get(SecretBox), id) };
}
