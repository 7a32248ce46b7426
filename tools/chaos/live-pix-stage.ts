import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../harness/random.js';
import type { Run } from '../harness/run.js';
import { ServiceStage } from './service-stage.js';

const EMAIL = 'owner@example.com';
const PASSWORD = 'a-password-of-nobody';

/** A stage with a merchant that is connected to the PSP. */
export interface LivePixStage extends Pick<ServiceStage, 'cli' | 'crash' | 'died' | 'psp' | 'rows' | 'serviceUrl'> {
  readonly accountId: string;
  /** The merchant's key in live mode. */
  readonly apiKey: string;
  readonly description: string;
}

export async function openLivePixStage(random: Random, run: Run): Promise<LivePixStage> {
  const stage = await ServiceStage.open(random, run);
  const printed = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await stage.cli(...args);
    if (code !== 0) throw new Error(`${args.slice(0, 2).join(' ')} failed: ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  };
  const passwordFile = join(run.directory, 'owner-password');
  writeFileSync(passwordFile, PASSWORD, { mode: 0o600 });
  const { account_id: accountId } = await printed<{ account_id: string }>(
    ...['account', 'create', '--name', 'Padaria', '--email', EMAIL, '--password-file', passwordFile],
  );
  const { apiKey } = await printed<{ apiKey: string }>('key', 'issue', accountId);
  await printed('acquirer', 'configure', '--account', accountId, ...stage.psp.configuration);
  await printed('acquirer', 'check', '--account', accountId, '--register-webhook');
  return {
    accountId,
    apiKey,
    description:
      'one merchant, connected to the PSP simulator (a process of its own, mTLS) by `acquirer configure`\n' +
      stage.description,
    psp: stage.psp,
    serviceUrl: stage.serviceUrl,
    get died() {
      return stage.died;
    },
    cli: (...args) => stage.cli(...args),
    crash: (victims) => stage.crash(victims),
    rows: (sql, values) => stage.rows(sql, values),
  };
}
