import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const PROGRAMS = ['hledger', 'ledger', 'bean-check', 'bean-report', 'ofxdump', 'ssconvert'];

/** Whether programs of others are installed that judge files of the books; where REQUIRE_BOOKKEEPERS=1 a missing one is an error. */
export function bookkeepersAvailable(): boolean {
  const missing = PROGRAMS.filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length === 0) return true;
  const message = `missing: ${missing.join(', ')} (Debian: hledger, ledger, beancount, ofx, gnumeric)`;
  if (process.env['REQUIRE_BOOKKEEPERS'] === '1') throw new Error(`REQUIRE_BOOKKEEPERS=1, but ${message}`);
  process.stderr.write(`The files of reports are not judged by programs of others; ${message}.\n`);
  return false;
}

/** @returns what the program prints. @throws Error with what it complains about */
function ask(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...process.env, LC_ALL: 'C.UTF-8', HOME: '/tmp' },
  });
  // bean-check says what is wrong and ends with 0 in some versions.
  if (status !== 0 || /error/i.test(stderr))
    throw new Error(`${program} ended with ${String(status)}: ${stderr}${stdout}`);
  return stdout;
}

/** Balances of accounts with their whole names, in text such as `9.90 BRL`; accounts of nothing are left out. */
export function balancesBy(program: 'hledger' | 'ledger' | 'beancount', file: string): Record<string, string> {
  const lines = (text: string, form: RegExp): [string, string][] =>
    text.split('\n').flatMap((line) => {
      const { account, amount, currency } = form.exec(line)?.groups ?? {};
      return account === undefined || Number(amount) === 0 ? [] : [[account, `${String(amount)} ${String(currency)}`]];
    });
  const AMOUNT_FIRST = /^\s*(?<amount>-?[\d.]+) (?<currency>[A-Z]+)\s+(?<account>\w+:\S+)$/;
  switch (program) {
    case 'hledger':
      ask('hledger', '-f', file, 'check');
      return Object.fromEntries(lines(ask('hledger', '-f', file, 'balance', '--flat', '--no-total'), AMOUNT_FIRST));
    case 'ledger':
      return Object.fromEntries(
        lines(ask('ledger', '-f', file, 'balance', '--flat', '--no-total', '--pedantic', '--permissive'), AMOUNT_FIRST),
      );
    case 'beancount': {
      const said = ask('bean-check', file);
      if (said.trim() !== '') throw new Error(said);
      const form = /^(?<account>\w+:\S+)\s+(?<amount>-?[\d.]+) (?<currency>[A-Z]+)/;
      return Object.fromEntries(lines(ask('bean-report', file, 'balances'), form));
    }
  }
}

/** One statement of an OFX file. */
export interface OfxAccount {
  readonly account: string;
  readonly balance: string;
  readonly amounts: readonly string[];
}

/** As `ofxdump` reads them. */
export function ofxAccounts(file: string): OfxAccount[] {
  const dumped = ask('ofxdump', file);
  return dumped
    .split('ofx_proc_statement():')
    .slice(1)
    .map((text) => {
      const values = (name: string): string[] =>
        text.split('\n').flatMap((line) => (line.trim().startsWith(`${name}: `) ? [line.split(': ')[1] ?? ''] : []));
      const [account = ''] = values('Account ID');
      const [balance = ''] = values('Ledger balance');
      return { account, balance, amounts: values('Total money amount') };
    });
}

/** Cells that a spreadsheet program (Gnumeric) runs as formulas, and how many there are in all. */
export function spreadsheet(file: string): { formulas: string[]; cells: number } {
  const xml = `${file}.xml`;
  ask('ssconvert', '-T', 'Gnumeric_XmlIO:sax:0', file, xml);
  const cells = readFileSync(xml, 'utf8').match(/<gnm:Cell [^>]*>[^<]*/g) ?? [];
  // What is no formula says what type of value it is.
  return { formulas: cells.filter((cell) => !cell.includes('ValueType=')), cells: cells.length };
}
