import { open, rename, rm } from 'node:fs/promises';
import type { WriteStream } from 'node:tty';
import { type Command, Option } from 'commander';
import type { Mode } from '../core/mode.js';
import { AccountsService } from '../accounts/index.js';
import {
  REPORT_FORMATS,
  REPORT_LOCALES,
  REPORT_TYPES,
  type ReportFormat,
  type ReportLocale,
  ReportsService,
  type ReportType,
  ReportWriter,
} from '../reports/index.js';
import { accountId, date, required, UsageError } from './command.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

interface Options {
  readonly account: string;
  readonly mode: Mode;
  readonly type: ReportType;
  readonly format: ReportFormat;
  readonly locale?: ReportLocale;
  readonly from: string;
  readonly to: string;
  readonly columns?: string[];
  readonly out: string;
}

const BAR = 30;
const TELL_MS = 100;

/** A progress line that overwrites itself, on a terminal only. @returns a function that updates it */
function progressBar(stderr: NodeJS.WritableStream): (rows: number, total: number) => void {
  if ((stderr as Partial<WriteStream>).isTTY !== true) return () => undefined;
  let toldAt = 0;
  let isOver = false;
  return (rows, total) => {
    const isEnd = rows >= total;
    // The full bar was written: further calls must not write another line.
    if (isOver) return;
    isOver = isEnd;
    if (!isEnd && performance.now() - toldAt < TELL_MS) return;
    toldAt = performance.now();
    const done = total === 0 ? 1 : Math.min(rows / total, 1);
    const bar = '#'.repeat(Math.floor(done * BAR)).padEnd(BAR, '.');
    stderr.write(
      `\r[${bar}] ${Math.floor(done * 100)} %  ${rows} of ${Math.max(rows, total)} rows${isEnd ? '\n' : ''}`,
    );
  };
}

/** Writes the whole file or nothing: if writing breaks off, the file stays as it was. */
async function writeWhole(out: string, pieces: AsyncIterable<string | Uint8Array>): Promise<number> {
  const draft = `${out}.part`;
  const file = await open(draft, 'w', 0o600).catch((error: unknown) => {
    throw new UsageError(`${out} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  });
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await file.writeFile(piece);
      bytes += Buffer.byteLength(piece);
    }
    await file.sync();
    await file.close();
    await rename(draft, out);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(draft, { force: true });
    throw error;
  }
  return bytes;
}

export function reportCommands(program: Command, shell: Shell): void {
  const group = program.command('report').description('files of the books');
  group
    .command('create')
    .description('write one to a file; the same as POST /v1/reports makes')
    .addOption(required('--account <account_id>', 'whose').argParser(accountId))
    .addOption(new Option('--mode <mode>', 'of which money').choices(['live', 'test']).default('live'))
    .addOption(new Option('--type <type>', 'of what').choices(REPORT_TYPES).default('statement'))
    .addOption(new Option('--format <format>', 'of the file').choices(REPORT_FORMATS).default('csv'))
    .addOption(
      new Option('--locale <locale>', 'of a CSV or spreadsheet: as programs in Brazil read it').choices(REPORT_LOCALES),
    )
    .addOption(required('--from <date>', 'a day in São Paulo, or an instant with its zone').argParser(date))
    .addOption(required('--to <date>', 'as --from, included').argParser(date))
    .addOption(
      new Option('--columns <list>', 'of a CSV or spreadsheet, as in day,amount').argParser((text: string) =>
        text.split(','),
      ),
    )
    .addOption(required('--out <file>', 'where to; what is there is replaced'))
    .action(async ({ account, mode, type, format, locale, from, to, columns, out }: Options) => {
      await run(shell, async ({ app }) => {
        await app.get(AccountsService).get(account);
        const dto = {
          ...{ type, format, from, to },
          ...(locale === undefined ? {} : { locale }),
          ...(columns === undefined ? {} : { columns }),
        };
        const order = app.get(ReportsService).read({ accountId: account, mode }, dto);
        const { totalRows, pieces } = await app.get(ReportWriter).write(order);
        const tell = progressBar(shell.stderr);
        let rows = 0;
        const contents = async function* (): AsyncGenerator<string | Uint8Array> {
          for await (const piece of pieces) {
            rows += piece.rows;
            tell(rows, totalRows);
            yield piece.content;
          }
        };
        const bytes = await writeWhole(out, contents());
        if (rows === 0) {
          shell.stderr.write(`Nothing of ${mode} mode is in this window; --mode says which mode is meant.\n`);
        }
        return { file: out, rows, bytes };
      });
    });
}
