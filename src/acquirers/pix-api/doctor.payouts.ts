import { newReturnId } from '../../brazil/index.js';
import { Clock } from '../../core/clock.js';
import { createLogger } from '../../core/log/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { Answers } from './answers.js';
import { ConnectionDesk, type Desk } from './desks/desk.js';
import type { Finding } from './finding.js';
import type { PixApiClient } from './pix-api.client.js';

/**
 * Tests whether a connection can send money, and sends none. The test covers the scopes of its token, its webhook, and a
 * look-up of a payout that does not exist.
 * @param granted the scopes that the PSP reports; null: not reported
 * @param webhook the result of its own step; null: that step was not taken
 */
export async function checkPayouts(
  client: PixApiClient,
  desk: Desk,
  granted: string | null,
  webhook: Finding | null,
): Promise<Finding> {
  const words = granted?.split(/\s+/) ?? null;
  const missing = words ? desk.scopes.filter(({ scope }) => !words.includes(scope)) : [];
  const listed = missing.map(({ scope, use }) => `${scope} (${use})`).join(', ');
  const [first] = desk.scopes;
  if (missing.includes(first)) {
    return finding(
      'warning',
      `no money can be sent: not granted: ${listed}`,
      'To send payouts, and refunds by cashout, switch these scopes on at the PSP. Until then name ' +
        '`"strategy": "devolution"` in refunds.',
    );
  }
  if (desk.needsWebhook && webhook?.ok !== true) {
    return finding(
      webhook?.ok === false ? false : 'warning',
      'the PSP sends only for a Pix key with a webhook, and ours is not known to be registered',
      'Register it: `acquirer check --register-webhook`.',
    );
  }
  const state = await lookUpNothing(client, desk);
  if (state !== 'not_found') {
    return finding(
      false,
      `a payout that does not exist is ${state}, and not unknown to the PSP`,
      'Check the scopes and the base URL. Without look-ups no payout ever ends.',
    );
  }
  if (missing.length > 0) return finding('warning', `not granted: ${listed}`, 'Switch these scopes on at the PSP.');
  return words === null
    ? finding('warning', 'payouts can be looked up; the PSP does not say whether it lets this client send')
    : finding(true, 'the scopes were granted, and payouts can be looked up');
}

async function lookUpNothing(client: PixApiClient, desk: Desk): Promise<string> {
  const logger = createLogger('silent');
  const answers = new Answers('check', logger, new Metrics());
  const connection = new ConnectionDesk('check', desk, async () => client, answers, new Clock(), logger);
  const target = { type: 'pix_key', key: client.pixKey, taxId: null } as const;
  const order = { accountId: '', sendId: newReturnId(), amount: 1, target, ownTaxId: null, description: null };
  return (await connection.lookUp(order)).kind;
}

function finding(ok: Finding['ok'], detail: string, remedy: string | null = null): Finding {
  return { step: 'payouts', ok, detail, remedy };
}
