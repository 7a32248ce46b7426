import { Injectable } from '@nestjs/common';
import { columnsOf, read, Reader, type Tx, valuesOfFields, write } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { type EndpointSignature, type EndpointStatus, WebhookEndpointEntity } from '../webhook-endpoint.entity.js';
import type { DirectEndpoint } from './direct-endpoint.js';

const SHOWN = [
  ...(['id', 'url', 'events', 'status', 'createdAt', 'updatedAt'] as const),
  ...(['previousSecretUntil', 'failingSince', 'signature'] as const),
] as const;

export type Endpoint = Pick<WebhookEndpointEntity, (typeof SHOWN)[number]>;

/** Fields that a merchant may change; an omitted field keeps its value. */
export interface EndpointChange {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly status?: EndpointStatus;
  readonly signature?: EndpointSignature;
}

/** Fields of an active endpoint that matching an event needs. */
export interface SubscribedEndpoint extends Scope {
  readonly id: string;
  readonly events: readonly string[];
}

/** Binds a sealed secret to its row. */
export function secretContext(endpointId: string): string {
  return `webhook_endpoint:${endpointId}`;
}

const COLUMNS = columnsOf(WebhookEndpointEntity, 'webhook_endpoints', { only: SHOWN });
/**
 * Endpoints that a merchant sees. Excludes URLs of single transactions, and deleted endpoints, whose rows stay for
 * their deliveries.
 */
const OWN = `account_id = $1 AND mode = $2 AND kind = 'registered' AND deleted_at IS NULL`;

/** Serialises registrations of one account and mode: two at once would both count the same endpoints. */
const LOCK_SCOPE = write(
  'webhook_endpoints.lock_scope',
  `SELECT pg_advisory_xact_lock(hashtextextended('webhook_endpoints:' || $1 || ':' || $2, 0))`,
);
const INSERT = write(
  'webhook_endpoints.insert',
  `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, created_at, updated_at,
     signature)
   SELECT $3::uuid, $1::uuid, $2::text, $4, $5::text[], $6::bytea, $7, $8::timestamptz, $9::timestamptz, $11
   WHERE (SELECT count(*) FROM webhook_endpoints WHERE ${OWN}) < $10::int
   RETURNING id`,
);
const LIST = read('webhook_endpoints.list', `SELECT ${COLUMNS} FROM webhook_endpoints WHERE ${OWN} ORDER BY id DESC`);
const FIND = read('webhook_endpoints.find', `SELECT ${COLUMNS} FROM webhook_endpoints WHERE ${OWN} AND id = $3`);
const FRESH = `($6 = 'ACTIVE' OR $4 <> url)`;
/** When the merchant sets ACTIVE or changes the URL, earlier failures no longer count. */
const UPDATE = write(
  'webhook_endpoints.update',
  `UPDATE webhook_endpoints SET url = coalesce($4::text, url), events = coalesce($5::text[], events),
     status = coalesce($6::text, status), updated_at = $7, signature = coalesce($8::text, signature),
     failures = CASE WHEN ${FRESH} THEN 0 ELSE failures END,
     failing_since = CASE WHEN ${FRESH} THEN NULL ELSE failing_since END,
     paused_until = CASE WHEN ${FRESH} THEN NULL ELSE paused_until END
   WHERE ${OWN} AND id = $3
   RETURNING ${COLUMNS}`,
);
/** Keeps the row but erases its secrets. */
const REMOVE = write(
  'webhook_endpoints.remove',
  `UPDATE webhook_endpoints SET status = 'INACTIVE', secret_sealed = '', previous_secret_sealed = NULL,
     previous_secret_until = NULL, deleted_at = $4, updated_at = $4
   WHERE ${OWN} AND id = $3
   RETURNING id`,
);
const ROTATE = write(
  'webhook_endpoints.rotate',
  `UPDATE webhook_endpoints SET previous_secret_sealed = secret_sealed, previous_secret_until = $5,
     secret_sealed = $4, updated_at = $6
   WHERE ${OWN} AND id = $3
   RETURNING signature`,
);
const SUBSCRIBED = write(
  'webhook_endpoints.subscribed',
  `SELECT ${columnsOf(WebhookEndpointEntity, 'e', { only: ['id', 'accountId', 'mode', 'events'] })}
   FROM unnest($1::uuid[], $2::text[]) AS s (account_id, mode)
   JOIN webhook_endpoints e ON e.account_id = s.account_id AND e.mode = s.mode
   WHERE e.status = 'ACTIVE' AND e.kind = 'registered' AND e.deleted_at IS NULL AND e.events && $3::text[]
   ORDER BY e.id`,
);
/** Sorted, so that two transactions never wait for each other. */
const END_PAUSE = write(
  'webhook_endpoints.end_pause',
  `UPDATE webhook_endpoints SET paused_until = $2 WHERE id IN (
     SELECT id FROM webhook_endpoints WHERE id = ANY ($1::uuid[]) AND paused_until > $2 ORDER BY id FOR NO KEY UPDATE)`,
);
/** Inserts in id order, the order in which every worker locks these rows. */
const INSERT_DIRECT = write(
  'webhook_endpoints.insert_direct',
  `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, kind, created_at, updated_at)
   SELECT DISTINCT ON (d.id) d.id, d.account_id, d.mode, d.url, '{}'::text[], ''::bytea, 'ACTIVE', 'direct',
     $5::timestamptz, $5
   FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS d (id, account_id, mode, url)
   ORDER BY d.id
   ON CONFLICT (id) DO NOTHING`,
);
@Injectable()
export class EndpointsRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns false when the account has `limit` endpoints in this mode. Locks the scope's registrations. */
  async insert(tx: Tx, scope: Scope, endpoint: Endpoint, secretSealed: Buffer, limit: number): Promise<boolean> {
    tx.defer(LOCK_SCOPE, [scope.accountId, scope.mode]);
    const rows = await tx.query(INSERT, [
      scope.accountId,
      scope.mode,
      endpoint.id,
      endpoint.url,
      endpoint.events,
      secretSealed,
      endpoint.status,
      endpoint.createdAt,
      endpoint.updatedAt,
      limit,
      endpoint.signature,
    ]);
    return rows.length === 1;
  }

  /** Newest first. */
  async list(scope: Scope): Promise<Endpoint[]> {
    return this.reader.query(LIST, [scope.accountId, scope.mode]);
  }

  async find(scope: Scope, id: string): Promise<Endpoint | null> {
    return this.reader.first<Endpoint>(FIND, [scope.accountId, scope.mode, id]);
  }

  /** @returns the endpoint after the change; null when it does not exist. Locks it. */
  async update(tx: Tx, scope: Scope, id: string, change: EndpointChange, now: Date): Promise<Endpoint | null> {
    return tx.first<Endpoint>(UPDATE, [
      scope.accountId,
      scope.mode,
      id,
      change.url ?? null,
      change.events ?? null,
      change.status ?? null,
      now,
      change.signature ?? null,
    ]);
  }

  /** @returns false when it does not exist. Locks it. */
  async remove(tx: Tx, scope: Scope, id: string, now: Date): Promise<boolean> {
    const rows = await tx.query(REMOVE, [scope.accountId, scope.mode, id, now]);
    return rows.length === 1;
  }

  /**
   * @param previousUntil until when the previous secret signs too; null: it stops at once
   * @returns the endpoint's kind of signature; null when there is no such endpoint
   */
  async rotate(
    tx: Tx,
    scope: Scope,
    id: string,
    sealed: Buffer,
    previousUntil: Date | null,
    now: Date,
  ): Promise<EndpointSignature | null> {
    const values = [scope.accountId, scope.mode, id, sealed, previousUntil, now];
    return (await tx.first<{ signature: EndpointSignature }>(ROTATE, values))?.signature ?? null;
  }

  /** Active endpoints of these accounts and modes that subscribe to one of the names; oldest first. */
  async subscribed(tx: Tx, scopes: readonly Scope[], names: readonly string[]): Promise<SubscribedEndpoint[]> {
    return tx.query(SUBSCRIBED, [scopes.map((scope) => scope.accountId), scopes.map((scope) => scope.mode), names]);
  }

  /**
   * Ends the pause of the circuit breaker, for a delivery that a merchant retries or resends. A single delivery is
   * tried at once, and its answer decides. Locks paused endpoints; deliveries are locked after endpoints.
   */
  endPause(tx: Tx, ids: readonly string[], now: Date): void {
    tx.defer(END_PAUSE, [ids, now]);
  }

  /**
   * Inserts endpoints for URLs of transactions; existing rows stay as they are. The account's default secret signs for
   * them.
   */
  insertDirect(tx: Tx, endpoints: readonly DirectEndpoint[], now: Date): void {
    tx.defer(INSERT_DIRECT, [...valuesOfFields(endpoints, 'id', 'accountId', 'mode', 'url'), now]);
  }
}
