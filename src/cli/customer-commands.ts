import type { Command } from 'commander';
import { CLI } from '../audit/index.js';
import { normalizeTaxId } from '../brazil/index.js';
import { type Customer, CustomerDataService } from '../transactions/index.js';
import { accountArgument, UsageError } from './command.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

interface Options {
  readonly taxId?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly metadata?: true;
}

/** @throws UsageError when no option names the customer, and for an invalid CPF or CNPJ, which would find nothing */
function customerOf({ taxId, email, phone }: Options): Customer {
  const normalized = taxId === undefined ? null : normalizeTaxId(taxId);
  if (taxId !== undefined && normalized === null) throw new UsageError('--tax-id must be a CPF or CNPJ.');
  const digits = phone === undefined ? null : phone.replace(/[^0-9]/g, '');
  if (digits === '' || email?.trim() === '') throw new UsageError('An e-mail or phone must not be empty.');
  if (normalized === null && email === undefined && digits === null) {
    throw new UsageError('Say who it is by --tax-id, --email or --phone.');
  }
  return { taxId: normalized, email: email?.trim() ?? null, phone: digits, mode: null, isEmailAlone: false };
}

function takesCustomer(command: Command): Command {
  return command
    .addArgument(accountArgument())
    .option('--tax-id <cpf_or_cnpj>', 'who it is; of several options a sale or payout has to match one')
    .option('--email <email>', 'or by e-mail; finds payouts whose Pix key it is')
    .option('--phone <phone>', 'or by phone, of which only the digits count; finds payouts whose Pix key it is');
}

/** Into the group `account`. */
export function customerCommands(group: Command, shell: Shell): void {
  takesCustomer(
    group
      .command('export-customer')
      .description('what an account keeps about one of its customers, test and live, for a request by the LGPD'),
  ).action(async (accountId: string, options: Options) => {
    const who = customerOf(options);
    await run(shell, async ({ app }) => {
      const { transactions, ...sections } = await app.get(CustomerDataService).export(accountId, who, CLI);
      return {
        account_id: accountId,
        transactions: transactions.map(({ id, ...kept }) => ({ transaction_id: id, ...kept })),
        ...sections,
      };
    });
  });
  takesCustomer(
    group
      .command('erase-customer')
      .description('blank one of its customers in sales, payouts and their copies; the books stay; may be repeated'),
  )
    .option('--metadata', "and the merchant's own words: metadata, descriptions of payouts")
    .action(async (accountId: string, options: Options) => {
      const who = customerOf(options);
      await run(shell, async ({ app }) => {
        const service = app.get(CustomerDataService);
        const { erased, waiting } = await service.erase(accountId, who, options.metadata === true, CLI);
        return {
          account_id: accountId,
          erased,
          kept: {
            books: 'amounts, dates, statuses, ledger and end-to-end ids: the law asks for them for five years',
            audit: 'ids and counts only',
            ...(options.metadata
              ? {}
              : { metadata: "the merchant's own, as descriptions of payouts; --metadata erases them" }),
            waiting: waiting.map(({ kind, id, waits }) => ({ [`${kind}_id`]: id, reason: waits })),
          },
        };
      });
    });
}
