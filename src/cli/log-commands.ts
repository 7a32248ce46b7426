import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { Client, type ConnectionOptions, withConnection } from './client.js';
import { Printer } from './printer.js';
import type { Shell } from './shell.js';

const LOOK_MS = 2_000;
const PAGE = 100;
const INTERRUPTED = 130;

/** Part of an item of `GET /v1/webhooks/deliveries`. */
interface Delivery {
  readonly id: string;
  readonly eventType: string;
  readonly endpointUrl?: string;
  readonly status: string;
  readonly attempts: number;
  readonly lastStatusCode?: number | null;
  readonly lastError?: string | null;
}

interface Options extends ConnectionOptions {
  readonly follow: boolean;
}

export function logCommands(program: Command, shell: Shell): void {
  withConnection(
    program
      .command('logs')
      .description('what happened to webhooks; requests are logged for people only, at the dashboard')
      .command('tail')
      .description('deliveries to endpoints as they change: the part of the log that a key may read'),
  )
    .option('--no-follow', 'end after the latest ones')
    .addHelpText(
      'after',
      `
The log of requests is for people: the dashboard shows it. A key reads deliveries.

Examples:
  recebe logs tail
  recebe logs tail --no-follow | jq 'select(.status == "FAILED")'`,
    )
    .action(async (options: Options) => {
      const client = Client.of(options, shell);
      const printer = new Printer(shell);
      const ended = new AbortController();
      if (options.follow) shell.onInterrupt(() => ended.abort());
      const seen = new Map<string, string>();
      while (!ended.signal.aborted) {
        const { data } = await client.call<{ data: Delivery[] }>('GET', `/v1/webhooks/deliveries?limit=${PAGE}`);
        for (const delivery of data.reverse()) {
          const state = `${delivery.status} ${delivery.attempts}`;
          if (seen.get(delivery.id) === state) continue;
          seen.set(delivery.id, state);
          printer.line(delivery, () => lineOf(delivery, printer));
        }
        if (!options.follow) return;
        await delay(LOOK_MS, undefined, { signal: ended.signal }).catch(() => undefined);
      }
      shell.exitCode = INTERRUPTED;
    });
}

function lineOf(delivery: Delivery, printer: Printer): string {
  const { id, eventType, status, attempts, lastStatusCode, lastError } = delivery;
  const isDone = status === 'DELIVERED';
  const word = printer.paint(isDone ? 'green' : status === 'FAILED' ? 'red' : 'yellow', status.padEnd(10));
  const answer = printer.paint('dim', String(lastStatusCode ?? lastError ?? ''));
  return `${printer.time(new Date().toISOString())}  ${word} ${eventType.padEnd(30)} ${id}  ${attempts} attempts  ${answer}`;
}
