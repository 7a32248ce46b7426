import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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

/**
 * Balances of a journal, which the program has found to be in order: `Assets:Recebe:Available 9.90 BRL`, sorted, one
 * for each currency of an account that has something.
 */
export function balancesBy(program: 'hledger' | 'ledger' | 'beancount', file: string): string[] {
  return readBalances(program, file)
    .filter(({ amount }) => Number(amount) !== 0)
    .map(({ account, amount, currency }) => `${account} ${amount} ${currency}`)
    .sort();
}

interface Balance {
  readonly account: string;
  readonly amount: string;
  readonly currency: string;
}

function readBalances(program: 'hledger' | 'ledger' | 'beancount', file: string): Balance[] {
  switch (program) {
    case 'hledger': {
      ask('hledger', '-f', file, 'check');
      const csv = ask('hledger', '-f', file, 'balance', '--flat', '--no-total', '-O', 'csv', '--layout=bare');
      return found(csv, /^"(?<account>\w+:[^"]+)","(?<currency>[A-Z]+)","(?<amount>-?[\d.]+)"$/);
    }
    case 'ledger': {
      const text = ask(
        'ledger',
        '-f',
        file,
        'balance',
        '--flat',
        '--no-total',
        '--format',
        '%(account)|%(display_total)\n',
      );
      // A second currency of an account stands on a line of its own.
      let last = '';
      return found(text, /^(?:(?<account>\w+:\S+)\|)?(?<amount>-?[\d.]+) (?<currency>[A-Z]+)$/).map((balance) => {
        last = balance.account || last;
        return { ...balance, account: last };
      });
    }
    case 'beancount': {
      const said = ask('bean-check', file);
      if (said.trim() !== '') throw new Error(said);
      const query = ask('bean-query', file, 'select account, currency, sum(number) group by account, currency');
      return found(query, /^(?<account>\w+:\S+)\s+(?<currency>[A-Z]+)\s+(?<amount>-?[\d.]+)\s*$/);
    }
  }
}

function found(text: string, form: RegExp): Balance[] {
  return text.split('\n').flatMap((line) => {
    const { account = '', amount = '', currency = '' } = form.exec(line)?.groups ?? {};
    return amount === '' ? [] : [{ account, amount, currency }];
  });
}

/** A statement of an OFX file */
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
  // Cells without a formula state the type of their value.
  return { formulas: cells.filter((cell) => !cell.includes('ValueType=')), cells: cells.length };
}
