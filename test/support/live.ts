import { callbackUrl } from '../../src/acquirers/index.js';
import { SecretBox } from '../../src/core/crypto/index.js';
import { DEFAULT_MERCHANT } from '../../tools/psp-simulator/simulator.js';
import { goLive } from './live-acquirer.js';
import { PspUnderTest } from './psp-client.js';
import type { TestService } from './service.js';

/** An account's connection to a PSP that is simulated, with everything a test does at the PSP itself. */
export interface LivePsp {
  readonly psp: PspUnderTest;
  readonly acquirer: string;
  readonly pixKey: string;
  /** Where it may call back; nobody has told it. */
  readonly callbackUrl: string;
}

export async function aLivePsp(service: TestService, accountId: string): Promise<LivePsp> {
  const psp = await PspUnderTest.start({ now: () => service.clock.now(), settings: { returnDelayMs: 50 } });
  const { id, acquirer, pixKey } = await goLive(service, psp.simulator, accountId, {
    pixKey: DEFAULT_MERCHANT.pixKeys[0] ?? '',
  });
  return { psp, acquirer, pixKey, callbackUrl: callbackUrl(service.url, service.get(SecretBox), id) };
}
