import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { Client, ClientError, type ConnectionOptions, withConnection } from './client.js';
import { UsageError } from './command.js';
import { allOf, type CatalogItem, type EventPage, newestCursor } from './listen-command.js';
import { Printer } from './printer.js';
import type { Shell } from './shell.js';
import { TRIGGERS } from './triggers.js';

/** An event follows within a second or two, a notice of a deadline within some ten. */
const LIMIT_MS = 30_000;
const LOOK_MS = 250;

interface Options extends ConnectionOptions {
  readonly list?: true;
  readonly sample?: true;
}

interface Endpoints {
  readonly data: readonly { readonly id: string; readonly url: string; readonly status: string }[];
}

export function triggerCommand(program: Command, shell: Shell): void {
  withConnection(
    program
      .command('trigger')
      .description('make an event happen in the sandbox, by all that leads to it; with a test key')
      .argument('[event]', 'its name, as charge.paid'),
  )
    .option('--list', 'list the names, and how each is triggered')
    .option('--sample', 'send a sample to the endpoints instead, of nothing that exists')
    .addHelpText(
      'after',
      `
Examples:
  recebe trigger charge.paid
  recebe trigger --list
  recebe trigger report.failed   (cannot happen at will: a sample is sent to your endpoints)`,
    )
    .action(async (event: string | undefined, options: Options) => {
      const client = Client.of(options, shell);
      const printer = new Printer(shell);
      const catalog = await client.call<CatalogItem[]>('GET', '/v1/webhooks/event-catalog');
      if (options.list) return list(catalog, printer);
      if (event === undefined) throw new UsageError('Name an event, or give --list.');
      if (!catalog.some((item) => item.event === event)) {
        throw new UsageError(`No such event: ${event}. \`recebe trigger --list\` lists the names.`);
      }
      if (!client.isTest)
        throw new UsageError('Events are triggered with a test key only, one that starts with ak_test_.');
      if (options.sample || TRIGGERS[event] === undefined) return sample(client, event, options, printer);
      return happen(client, event, printer);
    });
}

function list(catalog: readonly CatalogItem[], printer: Printer): void {
  for (const { event, description, legacy } of catalog) {
    const how = TRIGGERS[event] ? 'happens' : 'sample';
    printer.line(
      { object: 'trigger', event, how, legacy, description },
      () => `${event.padEnd(30)} ${printer.paint('dim', how.padEnd(8))} ${description}`,
    );
  }
}

/** Makes the event happen, and waits until it is in the list. @throws ClientError */
async function happen(client: Client, event: string, printer: Printer): Promise<void> {
  const path = `/v1/events?type=${event}`;
  const catalog = await client.call<CatalogItem[]>('GET', '/v1/webhooks/event-catalog');
  let after = await newestCursor(client, allOf(catalog));
  await TRIGGERS[event]?.(client);
  for (const end = performance.now() + LIMIT_MS; performance.now() < end; await delay(LOOK_MS)) {
    const page = await client.call<EventPage>('GET', `${path}&after=${after}&limit=1`);
    const [item] = page.data;
    after = page.next_cursor ?? after;
    if (!item) continue;
    printer.line(item, () => `${printer.paint('green', 'happened')}  ${item.type}  ${item.id}`);
    return;
  }
  throw new ClientError(`${event} did not happen within ${LIMIT_MS / 1000} s.`);
}

/** Sends a sample to every active endpoint. @throws ClientError without one */
async function sample(client: Client, event: string, { sample: isWanted }: Options, printer: Printer): Promise<void> {
  if (!isWanted) printer.note(`${event} cannot be made to happen at will: a sample is sent to your endpoints.`);
  const { data } = await client.call<Endpoints>('GET', '/v1/webhooks/endpoints');
  const active = data.filter(({ status }) => status === 'ACTIVE');
  if (active.length === 0) {
    throw new ClientError('There is no active endpoint to send it to: register one with POST /v1/webhooks/endpoints.');
  }
  for (const { id, url } of active) {
    const delivery = await client.call<object>('POST', `/v1/webhooks/endpoints/${id}/test`, { body: { event } });
    printer.line(delivery, () => `${printer.paint('yellow', 'sample')}  ${event}  to ${url}`);
  }
}
