import { setTimeout as delay } from 'node:timers/promises';
import type { EventBody } from '../webhooks/index.js';
import { type Client, ClientError } from './client.js';

/** The service sends a comment every 15 s: after this silence the connection is dead. */
const SILENCE_MS = 40_000;
const BACK_OFF_MS = { least: 250, most: 10_000 };
/** Answers that a repetition may change. */
const isPassing = (status: number | null): boolean => status === null || status === 429 || status >= 500;

export interface StreamQuery {
  readonly type: string;
  /** Cursor after which it begins. */
  readonly after: string;
  /** Instant before which nothing is of interest. */
  readonly since: string | null;
}

export interface StreamNews {
  /** The connection was cut: `reason` says how. */
  readonly onCut: (reason: string) => void;
  readonly onResumed: () => void;
}

/**
 * Follows the events without a gap: after a cut it goes on behind the last event that it returned.
 * @throws ClientError at a refusal, and when the first connection fails
 */
export async function* followEvents(
  client: Client,
  { type, after, since }: StreamQuery,
  { onCut, onResumed }: StreamNews,
  end: AbortSignal,
): AsyncGenerator<EventBody> {
  const query = new URLSearchParams({ type, after, resends: 'true', ...(since !== null && { created_after: since }) });
  let cursor = after;
  let wasOpen = false;
  let failures = 0;
  while (!end.aborted) {
    const silence = new Silence(end);
    try {
      const response = await client.open('GET', `/v1/events/stream?${query.toString()}`, {
        headers: { 'Last-Event-ID': cursor },
        signal: silence.signal,
      });
      if (!/^text\/event-stream/.test(response.headers.get('content-type') ?? '')) throw new Error('no event stream');
      wasOpen = true;
      for await (const { id, item } of blocksOf(response, silence)) {
        if (failures > 0) onResumed();
        failures = 0;
        if (item !== null) yield item;
        cursor = id ?? cursor;
      }
      await delay(BACK_OFF_MS.least, undefined, { signal: end }).catch(() => undefined);
    } catch (error) {
      if (end.aborted) return;
      const refused = error instanceof ClientError ? error : null;
      if (refused && (!wasOpen || !isPassing(refused.status))) throw refused;
      if (failures === 0) onCut(error instanceof Error ? error.message : String(error));
      const wait = Math.min(BACK_OFF_MS.least * 2 ** failures++, BACK_OFF_MS.most) * (0.5 + Math.random() / 2);
      await delay(Math.max(wait, refused?.retryAfterMs ?? 0), undefined, { signal: end }).catch(() => undefined);
    } finally {
      silence.stop();
    }
  }
}

/** Aborts a connection on which nothing comes, not even a comment. */
class Silence {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout;

  constructor(end: AbortSignal) {
    this.signal = AbortSignal.any([this.#controller.signal, end]);
    this.#timer = this.#start();
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    // Frees the place of the stream when its reader stops early.
    this.#controller.abort();
  }

  #start(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new Error('the connection is silent')), SILENCE_MS);
  }
}

interface Block {
  /** Cursor behind the block; null: it moves nothing. */
  readonly id: string | null;
  readonly item: EventBody | null;
}

/** Parses server-sent events; a block that is cut off is left out and comes again. */
async function* blocksOf(response: Response, silence: Silence): AsyncGenerator<Block> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body ?? []) {
    silence.broken();
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      const id = /^id: (.*)$/m.exec(block)?.[1] ?? null;
      yield { id, item: data === undefined ? null : (JSON.parse(data) as EventBody) };
    }
  }
}
