import { Injectable } from '@nestjs/common';
import { Clock, DAY_MS } from '../../core/clock.js';
import { Database, type Tx } from '../../core/database/index.js';
import { type ApiError, badRequest, hungUp, invalidRequest, serviceUnavailable } from '../../core/errors/index.js';
import { groupBy } from '../../core/group-by.js';
import { FIRST_ID, newId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { Turnstile } from '../../core/turnstile.js';
import { EventCatalog, OutboxService } from '../../outbox/index.js';
import { DeliveryWriter } from '../sending/delivery-writer.service.js';
import { messageOf } from '../sending/messages.js';
import type { Endpoint } from '../endpoints/endpoints.repository.js';
import { EndpointsService } from '../endpoints/endpoints.service.js';
import { type FailedDelivery, isMadeUpFor, type Telling, tellingOf } from './recovery.js';
import { RecoveryRepository } from './recovery.repository.js';
import { isSubscribed } from '../endpoints/subscription.js';

export interface Recovery {
  readonly since: Date;
  readonly dryRun: boolean;
  /** Deliveries that ended FAILED or CANCELLED and that no later delivery has made up for. */
  readonly failed: number;
  readonly charges: number;
  /** Deliveries created. */
  readonly queued: number;
  readonly hasMore: boolean;
}

/** A charge whose current state the endpoint has missed. */
interface Open {
  readonly telling: Telling;
  /** Failed deliveries that this one makes up for. */
  readonly failed: number;
}

/** Charges handled in one transaction. All their events are in memory at once, and metadata may make each large. */
const BATCH = 25;
/** Deliveries read in one query. */
const PAGE = 5_000;
/** Recoveries at a time, one for each account: each reads up to a hundred thousand rows. */
const OF_ALL = 2;
const MAX_WAITING = 20;
/** A call stops looking for failed deliveries after this many. */
const MAX_FAILED = 100_000;
/** Number of a charge's latest events that are searched for one that concerns the endpoint. */
const MAX_EVENTS = 20;
const MAX_DAYS = 30;

/** Brings a repaired endpoint up to date: each charge with failed deliveries is sent once, in its current state. */
@Injectable()
export class RecoveryService {
  readonly #running = new Turnstile(OF_ALL, MAX_WAITING, 1);

  constructor(
    private readonly database: Database,
    private readonly endpoints: EndpointsService,
    private readonly deliveries: RecoveryRepository,
    private readonly outbox: OutboxService,
    private readonly catalog: EventCatalog,
    private readonly writer: DeliveryWriter,
    private readonly clock: Clock,
  ) {}

  /**
   * Works in batches, each in its own transaction; if it stops halfway, a repeated call does the rest. Failures already
   * made up for are not found again, so repeated or concurrent calls send nothing twice.
   * @param isGone whether the caller has hung up: then no work begins
   * @throws ApiError 400 for a `since` in the future or more than 30 days back, and `webhook_endpoint_inactive`; 404;
   * 503
   */
  async recover(scope: Scope, id: string, since: Date, dryRun: boolean, isGone: () => boolean): Promise<Recovery> {
    const recovered = (): Promise<Recovery> =>
      isGone() ? Promise.reject(hungUp()) : this.#recover(scope, id, since, dryRun);
    const refusal = (): ApiError => serviceUnavailable('Too many recoveries are running; retry with backoff.');
    return this.#running.pass(recovered, refusal, scope.accountId);
  }

  async #recover(scope: Scope, id: string, since: Date, dryRun: boolean): Promise<Recovery> {
    const now = this.clock.now();
    const endpoint = await this.endpoints.get(scope, id);
    checkSince(since, now);
    if (!dryRun && endpoint.status !== 'ACTIVE') {
      throw badRequest('webhook_endpoint_inactive', 'The endpoint is INACTIVE: set it ACTIVE first.');
    }
    const window = [since, now] as const; // excludes failures after the start: the loop would never end
    const told = new Set<string>();
    let failed = 0;
    let after = FIRST_ID;
    let found: FailedDelivery[];
    do {
      found = await this.deliveries.failed(scope, endpoint.id, window, after, PAGE);
      after = found.at(-1)?.id ?? after;
      // Failures of one charge may lie on several pages; one delivery makes up for all of them.
      failed += found.filter(({ subjectId }) => told.has(subjectId)).length;
      const bySubject = [...groupBy(found, ({ subjectId }) => subjectId)].filter(([id]) => !told.has(id));
      for (let from = 0; from < bySubject.length; from += BATCH) {
        const batch = new Map(bySubject.slice(from, from + BATCH));
        for (const one of await this.#recoverBatch(scope, endpoint, batch, dryRun)) {
          failed += one.failed;
          told.add(one.telling.candidate.event.subjectId);
        }
      }
    } while (found.length === PAGE && failed < MAX_FAILED);
    const hasMore = found.length === PAGE;
    return { since, dryRun, failed, charges: told.size, queued: dryRun ? 0 : told.size, hasMore };
  }

  #recoverBatch(
    scope: Scope,
    endpoint: Endpoint,
    batch: ReadonlyMap<string, readonly FailedDelivery[]>,
    dryRun: boolean,
  ): Promise<Open[]> {
    return this.database.transaction(async (tx) => {
      this.deliveries.lock(tx, endpoint.id);
      const open = await this.#open(tx, scope, endpoint, batch);
      if (!dryRun) this.#tell(tx, endpoint, open);
      return open;
    });
  }

  /** Finds charges whose failed deliveries were not made up for, with their number and the event to send now. */
  async #open(
    tx: Tx,
    scope: Scope,
    endpoint: Endpoint,
    failed: ReadonlyMap<string, readonly FailedDelivery[]>,
  ): Promise<Open[]> {
    const subjectIds = [...failed.keys()];
    const asked = await this.deliveries.asked(tx, endpoint.id, subjectIds);
    const canonicalNames = new Set(this.catalog.canonicalNames());
    const types = this.catalog.sourcesOf((name) => isSubscribed(endpoint.events, name, canonicalNames));
    const histories = await this.outbox.history(tx, scope, subjectIds, types, MAX_EVENTS);
    const tellings = subjectIds.flatMap((subjectId) => {
      const telling = tellingOf(
        histories.get(subjectId) ?? [],
        endpoint.events,
        failed.get(subjectId) ?? [],
        this.catalog,
      );
      return telling ?? [];
    });
    const eventIds = tellings.map(({ candidate }) => candidate.event.id);
    const told = await this.deliveries.told(tx, endpoint.id, eventIds);
    return tellings.flatMap((telling) => {
      const { event } = telling.candidate;
      const known = { askedAt: asked.get(event.subjectId) ?? null, names: told.get(event.id) ?? [] };
      const open = (failed.get(event.subjectId) ?? []).filter((delivery) => !isMadeUpFor(delivery, event, known));
      return open.length > 0 ? [{ telling, failed: open.length }] : [];
    });
  }

  #tell(tx: Tx, endpoint: Endpoint, open: readonly Open[]): void {
    const now = this.clock.now();
    const messages = open.map(({ telling: { candidate, payload } }) =>
      messageOf(candidate.event, candidate.publicEvent.name, payload, [endpoint], true, () => newId(now)),
    );
    this.writer.write(tx, messages, now);
  }
}

function checkSince(since: Date, now: Date): void {
  const message =
    since > now
      ? 'must not be in the future'
      : since.getTime() < now.getTime() - MAX_DAYS * DAY_MS
        ? `must be at most ${MAX_DAYS} days back`
        : null;
  if (message !== null) throw invalidRequest([{ param: 'since', code: 'invalid', message }]);
}
