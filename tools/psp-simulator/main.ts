import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { CA_CERTIFICATE, CLIENT } from './certificates.js';
import { SANDBOX_KEY } from './sends.js';
import { DEFAULT_MERCHANT, PspSimulator } from './simulator.js';

const USAGE = `npm run psp-simulator [-- options]

A PSP that speaks BACEN's API Pix and Efí's way to send money, over mTLS, in memory, on this machine only: live keys work
against it, and no money moves.

  --port N             of the API (8443)
  --control-port N     of the control endpoint, where you are the payer, the payer's bank and the bad days (8444)
  --seed N             of the faults that are drawn (1)
  --latency-ms N       every request waits so long (0)
  --token-seconds N    how long an access token is good (3600)
  --return-delay-ms N  how long a devolution is under way; "manual": until you settle it (1000)
  --send-delay-ms N    how long a Pix that the merchant sends is under way; "manual": until you settle it (1000)
  --opening-balance N  cents on the merchant's account at the start (0)
  --efi-sandbox        sends follow the rules of Efí's test environment: only to the key ${SANDBOX_KEY} and to
                       accounts; R$ 4.00 comes back in two parts, R$ 5.00 whole; above R$ 10.00 a send ends rejected,
                       above R$ 20.00 the request is refused
  --pix-key K          the merchant's Pix key (${DEFAULT_MERCHANT.pixKeys.join(', ')})
  --directory D        where the client's certificate, key and secret are written (a temporary one, removed at the end)
`;

const SANDBOX = `Efí's sandbox rules hold:
send to ${SANDBOX_KEY}; R$ 4.00 comes back in two parts, R$ 5.00 whole, R$ 15.00 ends rejected.`;
const NO_SANDBOX = `Every send is paid, to any
key (--efi-sandbox: by Efí's sandbox rules).`;

class UsageError extends Error {}

interface Arguments {
  readonly port: number;
  readonly controlPort: number;
  readonly seed: number;
  readonly latencyMs: number;
  readonly tokenSeconds: number;
  readonly returnDelayMs: number | null;
  readonly sendDelayMs: number | null;
  readonly openingBalance: number;
  readonly sandboxRules: boolean;
  readonly pixKey: string;
  readonly directory: string | null;
}

/** Null: the usage text was requested. @throws UsageError */
function readArguments(): Arguments | null {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8443' },
      'control-port': { type: 'string', default: '8444' },
      seed: { type: 'string', default: '1' },
      'latency-ms': { type: 'string', default: '0' },
      'token-seconds': { type: 'string', default: '3600' },
      'return-delay-ms': { type: 'string', default: '1000' },
      'send-delay-ms': { type: 'string', default: '1000' },
      'opening-balance': { type: 'string', default: '0' },
      'efi-sandbox': { type: 'boolean', default: false },
      'pix-key': { type: 'string', default: DEFAULT_MERCHANT.pixKeys[0] ?? '' },
      directory: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) return null;
  const number = (name: Exclude<keyof typeof values, 'efi-sandbox' | 'pix-key' | 'directory' | 'help'>) => {
    if (!/^\d{1,10}$/.test(values[name])) throw new UsageError(`--${name} must be a whole number`);
    return Number(values[name]);
  };
  const delay = (name: 'return-delay-ms' | 'send-delay-ms') => (values[name] === 'manual' ? null : number(name));
  return {
    port: number('port'),
    controlPort: number('control-port'),
    seed: number('seed'),
    latencyMs: number('latency-ms'),
    tokenSeconds: number('token-seconds'),
    returnDelayMs: delay('return-delay-ms'),
    sendDelayMs: delay('send-delay-ms'),
    openingBalance: number('opening-balance'),
    sandboxRules: values['efi-sandbox'],
    pixKey: values['pix-key'],
    directory: values.directory === undefined ? null : resolve(values.directory),
  };
}

/** Writes the files that a PSP hands to a merchant. */
function writeFiles(directory: string): Record<'cert' | 'key' | 'pfx' | 'ca' | 'secret', string> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const write = (name: string, content: string | Buffer): string => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  return {
    cert: write('client.crt', CLIENT.cert),
    key: write('client.key', CLIENT.key),
    pfx: write('client.pfx', Buffer.from(CLIENT.pfx, 'base64')),
    ca: write('ca.crt', CA_CERTIFICATE),
    secret: write('client-secret', DEFAULT_MERCHANT.clientSecret),
  };
}

/** Quotes a path for a shell, if it has a character that a shell may read otherwise. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function welcome(
  simulator: PspSimulator,
  { pixKey, sandboxRules }: Arguments,
  files: ReturnType<typeof writeFiles>,
): string {
  const post = (action: string, body: object): string =>
    `  curl -s ${simulator.controlUrl}/${action} -d '${JSON.stringify(body)}'`;
  const endToEndId = 'E…';
  return `
The PSP simulator is ready. Ctrl-C ends it and forgets everything.

  API      ${simulator.baseUrl}
  token    ${simulator.tokenUrl}
  control  ${simulator.controlUrl}
  client   ${DEFAULT_MERCHANT.clientId}, Pix key ${pixKey}
  PKCS #12 ${files.pfx} (passphrase "${CLIENT.passphrase}")

Connect an account of the service to it (ACCOUNT is the id that account create prints), then make charges with a live key
of it:

  npm run cli -- acquirer configure --account $ACCOUNT --psp standard --key ${pixKey} \\
    --client-id ${DEFAULT_MERCHANT.clientId} --client-secret-file ${quoted(files.secret)} \\
    --cert ${quoted(files.cert)} --key-file ${quoted(files.key)} --ca ${quoted(files.ca)} \\
    --base-url ${simulator.baseUrl} --token-url ${simulator.tokenUrl}

Pay a charge; pay by Pix without a charge; see everything that is booked:

${post('pay', { txid: '…' })}
${post('pay', { key: pixKey, amount: 1990, payer: null })}
  curl -s ${simulator.controlUrl}/state

A devolution by the MED appears, and is settled; a charge expires at the bank:

${post('med', { endToEndId, nature: 'MED_FRAUDE' })}
${post('settleReturn', { endToEndId, id: '…', status: 'DEVOLVIDO' })}
${post('expire', { txid: '…' })}

Money out is Efí's: give --psp efi and --base-url ${simulator.efiUrl} instead. ${sandboxRules ? SANDBOX : NO_SANDBOX}
Reject a send, give a part of a paid one back, block money, or hold the next send for a review:

${post('settleSend', { idEnvio: '…', status: 'NAO_REALIZADO' })}
${post('returnSend', { idEnvio: '…', amount: 200 })}
${post('block', { judicial: 0, med: 1990 })}
${post('addFault', { operation: 'send', fault: { kind: 'review', ms: 60_000 } })}

Bad days: the next charge is made but nobody answers; a tenth of all requests fails; callbacks come twice; all is well:

${post('addFault', { operation: 'cob.put', fault: { kind: 'timeout', effect: true } })}
${post('addFault', { operation: '*', fault: { kind: 'error', effect: false }, rate: 0.1 })}
${post('addFault', { operation: 'callback', fault: { kind: 'duplicate', times: 2 }, rate: 1 })}
  curl -s -X POST ${simulator.controlUrl}/clearFaults
`;
}

async function main(): Promise<void> {
  const given = readArguments();
  if (!given) {
    process.stdout.write(USAGE);
    return;
  }
  const { pixKey, latencyMs, tokenSeconds, returnDelayMs, sendDelayMs, sandboxRules, openingBalance, ...ports } = given;
  const simulator = await PspSimulator.start({
    port: ports.port,
    controlPort: ports.controlPort,
    seed: ports.seed,
    settings: { latencyMs, tokenSeconds, returnDelayMs, sends: { delayMs: sendDelayMs, sandboxRules } },
    merchants: [{ ...DEFAULT_MERCHANT, pixKeys: [pixKey], openingBalance }],
  });
  const directory = given.directory ?? mkdtempSync(join(tmpdir(), 'recebe-psp-'));
  const stop = (): void => {
    void simulator.stop().finally(() => {
      if (given.directory === null) rmSync(directory, { recursive: true, force: true });
    });
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  process.stdout.write(welcome(simulator, given, writeFiles(directory)));
}

main().catch((error: unknown) => {
  const reason = error instanceof z.ZodError ? z.prettifyError(error) : error instanceof Error ? error.message : error;
  process.stderr.write(`\nThe simulator could not be started: ${String(reason)}\n`);
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')
    process.stderr.write('Another one may be running; --port and --control-port take other ports.\n');
  if (error instanceof UsageError || (error instanceof TypeError && 'code' in error))
    process.stderr.write(`\n${USAGE}`);
  process.exitCode = 1;
});
