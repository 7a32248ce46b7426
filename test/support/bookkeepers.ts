import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';

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

/** A cell as LibreOffice read it. */
export interface SheetCell {
  readonly kind: 'float' | 'currency' | 'date' | 'string' | 'empty';
  /** The number, the ISO date or the text. */
  readonly value: string;
  readonly formula: boolean;
}

/** The settings of a user in Brazil. */
const IN_BRAZIL = `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
  <item oor:path="/org.openoffice.Setup/L10N">
    <prop oor:name="ooSetupSystemLocale" oor:op="fuse"><value>pt-BR</value></prop>
  </item>
</oor:items>`;
/** Semicolons, quotation marks, UTF-8, from line 1; the language of the numbers is Portuguese of Brazil. */
const CSV_IN_BRAZIL = 'CSV:59,34,76,1,,1046';

/** The rows of the first sheet, as LibreOffice Calc in Brazilian settings opens a CSV or a workbook. */
export function libreOfficeRows(file: string): SheetCell[][] {
  const directory = dirname(file);
  const profile = join(directory, 'libreoffice');
  mkdirSync(join(profile, 'user'), { recursive: true });
  writeFileSync(join(profile, 'user', 'registrymodifications.xcu'), IN_BRAZIL);
  const made = join(directory, `${basename(file, extname(file))}.fods`);
  rmSync(made, { force: true });
  const filter = extname(file) === '.csv' ? [`--infilter=${CSV_IN_BRAZIL}`] : [];
  const where = [`-env:UserInstallation=file://${profile}`, '--headless'];
  const converted = spawnSync('soffice', [...where, ...filter, '--convert-to', 'fods', '--outdir', directory, file], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  if (converted.status !== 0) throw new Error(`soffice ended with ${String(converted.status)}: ${converted.stderr}`);
  const xml = readFileSync(made, 'utf8');
  const [table = ''] = /<table:table .*?<\/table:table>/s.exec(xml) ?? [];
  const rows = (table.match(/<table:table-row.*?<\/table:table-row>/gs) ?? []).map(cellsOf);
  // An empty row that is repeated fills the rest of the sheet.
  return rows.filter((cells) => cells.some(({ kind }) => kind !== 'empty'));
}

function cellsOf(row: string): SheetCell[] {
  const cells = row.match(/<table:table-cell(?:[^>]*\/>|.*?<\/table:table-cell>)/gs) ?? [];
  return cells.flatMap((cell) => {
    const attribute = (name: string): string | undefined => new RegExp(` ${name}="([^"]*)"`).exec(cell)?.[1];
    const kind = (attribute('office:value-type') ?? 'empty') as SheetCell['kind'];
    const text = [...cell.matchAll(/<text:p>(.*?)<\/text:p>/gs)].map(([, line]) => plain(line ?? '')).join('\n');
    const value = attribute('office:value') ?? attribute('office:date-value') ?? text;
    const repeated = Math.min(Number(attribute('table:number-columns-repeated') ?? 1), 50);
    return Array.from({ length: repeated }, () => ({ kind, value, formula: cell.includes('table:formula=') }));
  });
}

/** The text of an XML element without its children. */
function plain(xml: string): string {
  const signs: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return xml
    .replace(/<text:s\/>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(\w+);/g, (whole, name: string) => signs[name] ?? whole);
}
