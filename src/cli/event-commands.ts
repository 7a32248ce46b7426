import { type Command, InvalidArgumentError } from 'commander';
import { eventUuid } from '../core/ids.js';
import { Client, type ConnectionOptions, withConnection } from './client.js';
import type { EventPage } from './listen-command.js';
import { Printer } from './printer.js';
import type { Shell } from './shell.js';

const PAGE = 100;

interface ListOptions extends ConnectionOptions {
  readonly type: string;
  readonly subject?: string;
  readonly limit: number;
}

interface Resent {
  readonly id: string;
  readonly deliveries: number;
}

export function eventCommands(program: Command, shell: Shell): void {
  const group = program.command('events').description('what webhooks say, for 30 days');
  withConnection(group.command('list').description('newest first'))
    .option('--type <names>', 'with commas between; * for all canonical ones', '*')
    .option('--subject <id>', 'of one charge, payment, case, payout or report')
    .option('--limit <number>', 'how many', count, 25)
    .addHelpText(
      'after',
      `
Examples:
  recebe events list --type charge.paid --limit 5
  recebe events list --subject ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12 | jq .type`,
    )
    .action(async (options: ListOptions) => {
      const client = Client.of(options, shell);
      const printer = new Printer(shell);
      const { type, subject } = options;
      let left = options.limit;
      for (let cursor: string | null = null; left > 0;) {
        const query = new URLSearchParams({
          ...{ type, limit: String(Math.min(left, PAGE)) },
          ...(subject !== undefined && { subject }),
          ...(cursor !== null && { starting_after: cursor }),
        });
        const page: EventPage = await client.call<EventPage>('GET', `/v1/events?${query.toString()}`);
        for (const item of page.data) {
          printer.line(item, () => `${printer.paint('dim', item.created_at)}  ${item.type.padEnd(30)} ${item.id}`);
        }
        left -= page.data.length;
        cursor = page.next_cursor;
        if (!page.has_more || cursor === null) return;
      }
    });
  withConnection(group.command('resend').description('send an event again, to endpoints and to listeners'))
    .argument('<event_id>', 'evt_…, as `events list` prints it', eventId)
    .addHelpText(
      'after',
      `
Example:
  recebe events resend evt_019aa0f07d5c7c3e9b1a2f4d6c8e0a12`,
    )
    .action(async (id: string, options: ConnectionOptions) => {
      const client = Client.of(options, shell);
      const printer = new Printer(shell);
      const resent = await client.call<Resent>('POST', `/v1/events/${id}/resend`);
      printer.line(
        resent,
        () => `${printer.paint('green', 'sent again')}  ${resent.id}  to listeners and ${resent.deliveries} endpoints`,
      );
    });
}

function count(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}

function eventId(text: string): string {
  if (eventUuid(text) !== null) return text;
  throw new InvalidArgumentError('It must be the id of an event: evt_ and 32 hex digits.');
}
