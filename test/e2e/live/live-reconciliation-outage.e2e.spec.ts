import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { saoPauloDay } from '../../../src/brazil/index.js';
import { CLI as BY_CLI } from '../../../src/audit/index.js';
import { LiveAcquirersService } from '../../../src/acquirers/index.js';
import { expectLedgerCoherent } from '../../support/coherence.js';
import { goLive } from '../../support/live-acquirer.js';
import { LiveStory } from '../../support/live-story.js';
import { type Ended, runCli } from '../../support/cli.js';
import { TestService } from '../../support/service.js';

const ENCRYPTION_KEY = '4d'.repeat(32);
/** Nobody listens there. */
const GONE = 'https://127.0.0.1:1';

describe('the comparison of an account with two PSPs, one of which is gone', () => {
  const service = TestService.forSpec({ env: { ENCRYPTION_KEY } });
  const story = LiveStory.forSpec(service);
  let gone: string;

  beforeAll(async () => {
    const made = await story.charge();
    // The list is asked for until some seconds before now.
    story.pay(made, { at: new Date(Date.now() - 4_000).toISOString() });
    await story.becomes(made, 'paid');
    const { accountId } = story.merchant;
    const urls = { baseUrl: `${GONE}/api/v2`, tokenUrl: `${GONE}/oauth/token` };
    const other = { pixKey: '0f6c7a52-4a1f-4f0e-8d8e-6a3d3c1b2a10', ...urls };
    gone = (await goLive(service, story.bank, accountId, other)).acquirer;
    await service.get(LiveAcquirersService).disconnect(accountId, BY_CLI);
  });
  afterEach(() => expectLedgerCoherent(service.database.url));

  function reconcile(): Promise<Ended> {
    const env = { DATABASE_URL: service.database.url, ENCRYPTION_KEY };
    const day = saoPauloDay(service.clock.now());
    return runCli(['reconcile', '--account', story.merchant.accountId, '--day', day], env);
  }

  function expectNamed({ stdout, stderr }: Ended): void {
    expect(JSON.parse(stdout)).toMatchObject({
      acquirers: [{ acquirer: story.live.acquirer }],
      not_compared: [{ acquirer: gone, error: expect.stringContaining('ECONNREFUSED') }],
    });
    expect(stderr).toContain(`${gone} was not compared, the PSP did not answer as it should: `);
    expect(stderr).toContain('Run `acquirer check`');
    expect(stderr).not.toContain('    at ');
  }

  it('exits with 3 when the PSP that answers agrees with our books', async () => {
    const finished = await reconcile();
    expect(finished.code).toBe(3);
    expectNamed(finished);
    expect(JSON.parse(finished.stdout)).toMatchObject({ acquirers: [{ here: { count: 1 }, differences: [] }] });
    expect(finished.stderr).not.toContain('difference');
  }, 60_000);

  it('exits with 1 when the PSP that answers differs from our books, even though the other is gone', async () => {
    const { endToEndId } = story.bank.state().pix[0] ?? { endToEndId: '' };
    await story.live.psp.call('PUT', `/pix/${endToEndId}/devolucao/app1`, { valor: '1.00' });
    const finished = await reconcile();
    expect(finished.code).toBe(1);
    expectNamed(finished);
    expect(finished.stderr).toContain(`${endToEndId}/app1: money went back that was not asked for here`);
  }, 60_000);
});
