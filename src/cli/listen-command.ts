import { createHmac } from 'node:crypto';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { eventId, eventUuid, timeOfId } from '../core/ids.js';
import { type EventBody, standardSecret } from '../webhooks/index.js';
import { Client, ClientError, type ConnectionOptions, withConnection } from './client.js';
import { instant, required, UsageError } from './command.js';
import { followEvents } from './event-stream.js';
import { type Forwarded, Forwarder } from './forwarder.js';
import { Printer } from './printer.js';
import type { Shell } from './shell.js';

/** A cursor before all events. */
export const FIRST_CURSOR = `evc_0_${'0'.repeat(32)}_0`;
/** An event is written at most this long after it has happened, so its time may lie before that of its id. */
const WRITTEN_LATE_MS = 600_000;
const INTERRUPTED = 130;

export interface CatalogItem {
  readonly event: string;
  readonly description: string;
  readonly legacy: boolean;
}

export interface EventPage {
  readonly data: readonly EventBody[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

interface Options extends ConnectionOptions {
  readonly forwardTo: string;
  readonly events: string;
  readonly since?: string;
}

interface Start {
  readonly after: string;
  readonly since: string | null;
}

export function listenCommand(program: Command, shell: Shell): void {
  withConnection(
    program
      .command('listen')
      .description('forward events to a local server as webhooks, signed, in order, and without a gap after a cut'),
  )
    .addOption(required('--forward-to <url>', 'where your receiver is').argParser(localUrl))
    .addOption(new Option('--events <names>', 'with commas between; * for all canonical ones').default('*'))
    .option('--since <start>', 'an instant, a day, an event (evt_…), or a cursor (evc_…): bring what came after it')
    .addHelpText(
      'after',
      `
The secret is the same each time for a key. Resends reach it too. While nothing answers at the address, events are
kept and tried again; any answer counts as delivered. Ctrl-C says how to go on later.

Examples:
  recebe listen --forward-to http://localhost:8080/webhooks
  recebe listen --forward-to http://localhost:8080/webhooks --events charge.paid,charge.refunded
  recebe listen --forward-to http://localhost:8080/webhooks --since 2026-11-28T09:00:00Z`,
    )
    .action((options: Options) => listen(Client.of(options, shell), options, shell));
}

async function listen(client: Client, options: Options, shell: Shell): Promise<void> {
  const printer = new Printer(shell);
  const ended = new AbortController();
  const catalog = await client.call<CatalogItem[]>('GET', '/v1/webhooks/event-catalog');
  const legacy = new Set(catalog.filter((item) => item.legacy).map(({ event }) => event));
  const type = namesOf(options.events, catalog);
  const start = await startOf(client, options.since, allOf(catalog));
  const secret = secretOf(client.key);
  printer.line(
    {
      ...{ object: 'listener', url: client.url, forward_to: options.forwardTo, events: type.split(',') },
      ...{ secret, standard_secret: standardSecret(secret) },
    },
    () =>
      `Ready. Signing secret: ${printer.paint('bold', secret)}, for libraries of Standard Webhooks ${standardSecret(secret)}  (Ctrl-C to end)`,
  );
  const forwarder = new Forwarder(
    {
      url: options.forwardTo,
      secret,
      isLegacy: (name) => legacy.has(name),
      onForwarded: (forwarded) => tell(printer, forwarded),
      onAway: (reason) => {
        printer.note(`Nothing answers at ${options.forwardTo} (${reason}): events wait and are tried again.`);
      },
      end: ended.signal,
    },
    start.after,
  );
  const news = {
    onCut: (reason: string) => printer.note(`The connection was cut (${reason}): connecting again.`),
    onResumed: () => printer.note('Connected again, without a gap.'),
  };
  shell.onInterrupt(() => ended.abort());
  try {
    for await (const item of followEvents(client, { type, ...start }, news, ended.signal)) await forwarder.take(item);
  } finally {
    ended.abort();
    await forwarder.settled();
    if (forwarder.doneTo !== FIRST_CURSOR) printer.note(`To go on from here: --since ${forwarder.doneTo}`);
  }
  shell.exitCode = INTERRUPTED;
}

function tell(printer: Printer, { item, subject, deliveryId, status, error, durationMs }: Forwarded): void {
  const { id, type, sequence, cursor } = item;
  printer.line(
    {
      ...{ object: 'forwarded', at: new Date().toISOString(), type, id, subject, sequence, cursor },
      ...{ delivery_id: deliveryId, status, error, duration_ms: durationMs },
    },
    () =>
      `${printer.time(new Date().toISOString())}  ${printer.status(status)}  ${type.padEnd(22)} ${id}  ` +
      printer.paint('dim', error ?? `${durationMs} ms`),
  );
}

/** Returns the names of all events, as the list takes them. */
export function allOf(catalog: readonly CatalogItem[]): string {
  return ['*', ...catalog.filter((item) => item.legacy).map(({ event }) => event)].join(',');
}

/** Derives the secret from the key, so that a receiver is configured once. The key cannot be derived from it. */
export function secretOf(key: string): string {
  return createHmac('sha256', key).update('recebe listen').digest('hex');
}

/** @throws UsageError for a name that the service does not have */
export function namesOf(events: string, catalog: readonly CatalogItem[]): string {
  const names = events.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => name !== '*' && !catalog.some(({ event }) => event === name));
  if (unknown.length > 0) {
    throw new UsageError(`No such event: ${unknown.join(', ')}. \`recebe trigger --list\` lists the names.`);
  }
  return names.join(',');
}

/** @param all names of all events @throws UsageError, ClientError */
async function startOf(client: Client, since: string | undefined, all: string): Promise<Start> {
  if (since === undefined) return { after: await newestCursor(client, all), since: null };
  if (/^evc_/.test(since)) return { after: since, since: null };
  const uuid = eventUuid(since);
  if (uuid !== null) {
    const from = new Date(timeOfId(uuid).getTime() - WRITTEN_LATE_MS);
    return { after: await cursorOf(client, all, from, eventId(uuid)), since: null };
  }
  try {
    return { after: FIRST_CURSOR, since: /^\d{4}-\d\d-\d\d$/.test(since) ? since : instant(since).toISOString() };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`--since: ${error.message} Or an event (evt_…), or a cursor (evc_…).`);
  }
}

/** The place behind all that has happened, from which a stream misses nothing. */
export async function newestCursor(client: Client, type: string): Promise<string> {
  const page = await client.call<EventPage>('GET', `/v1/events?type=${type}&resends=true&limit=1`);
  return page.data[0]?.cursor ?? page.next_cursor ?? FIRST_CURSOR;
}

/** The cursor of an event. @throws ClientError */
async function cursorOf(client: Client, type: string, from: Date, id: string): Promise<string> {
  let after = FIRST_CURSOR;
  for (;;) {
    const query = `type=${type}&after=${after}&created_after=${from.toISOString()}&limit=100`;
    const page = await client.call<EventPage>('GET', `/v1/events?${query}`);
    const found = page.data.findLast((item) => item.id === id);
    if (found) return found.cursor;
    if (!page.has_more || page.next_cursor === null)
      throw new ClientError(`There is no event ${id} of the last 30 days.`);
    after = page.next_cursor;
  }
}

function localUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(url)) throw new InvalidArgumentError('It must be a URL, as http://localhost:8080/webhooks.');
  return url;
}
