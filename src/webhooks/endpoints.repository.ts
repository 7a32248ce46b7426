import { Injectable } from '@nestjs/common';
import { Reader, statement, type Tx } from '../core/database/index.js';
import type { Mode, Scope } from '../core/mode.js';

export type EndpointStatus = 'ACTIVE' | 'INACTIVE';

export interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly status: EndpointStatus;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What matching an event needs of an active endpoint. */
export interface SubscribedEndpoint extends Scope {
  readonly id: string;
  readonly events: readonly string[];
}

/** Binds a sealed secret to its row. */
export function secretContext(endpointId: string): string {
  return `webhook_endpoint:${endpointId}`;
}

/** Registrations of one account and mode come one after another: two at once would both count the same endpoints. */
const LOCK_SCOPE = statement(
  'webhook_endpoints.lock_scope',
  `SELECT pg_advisory_xact_lock(hashtextextended('webhook_endpoints:' || $1 || ':' || $2, 0))`,
);
const INSERT = statement(
  'webhook_endpoints.insert',
  `INSERT INTO webhook_endpoints (id, account_id, mode, url, events, secret_sealed, status, created_at, updated_at)
   SELECT $1::uuid, $2::uuid, $3::text, $4, $5::text[], $6::bytea, $7, $8::timestamptz, $9::timestamptz
   WHERE (SELECT count(*) FROM webhook_endpoints WHERE account_id = $2 AND mode = $3) < $10::int
   RETURNING id`,
);
const LIST = statement(
  'webhook_endpoints.list',
  `SELECT id, url, events, status, created_at, updated_at FROM webhook_endpoints
   WHERE account_id = $1 AND mode = $2 ORDER BY id DESC`,
);
const SUBSCRIBED = statement(
  'webhook_endpoints.subscribed',
  `SELECT e.id, e.account_id, e.mode, e.events
   FROM unnest($1::uuid[], $2::text[]) AS s (account_id, mode)
   JOIN webhook_endpoints e ON e.account_id = s.account_id AND e.mode = s.mode
   WHERE e.status = 'ACTIVE' AND e.events && $3::text[]
   ORDER BY e.id`,
);
/** Only while it is still the address that answered: the merchant may just have changed it. */
const DEACTIVATE = statement(
  'webhook_endpoints.deactivate',
  `UPDATE webhook_endpoints SET status = 'INACTIVE', updated_at = $3 WHERE id = $1 AND url = $2 AND status = 'ACTIVE'`,
);

interface Row {
  id: string;
  url: string;
  events: string[];
  status: EndpointStatus;
  created_at: Date;
  updated_at: Date;
}

@Injectable()
export class EndpointsRepository {
  constructor(private readonly reader: Reader) {}

  /** @returns false when the account has `limit` endpoints in this mode. Locks the scope's registrations. */
  async insert(tx: Tx, scope: Scope, endpoint: Endpoint, secretSealed: Buffer, limit: number): Promise<boolean> {
    tx.defer(LOCK_SCOPE, [scope.accountId, scope.mode]);
    const rows = await tx.query(INSERT, [
      endpoint.id,
      scope.accountId,
      scope.mode,
      endpoint.url,
      endpoint.events,
      secretSealed,
      endpoint.status,
      endpoint.createdAt,
      endpoint.updatedAt,
      limit,
    ]);
    return rows.length === 1;
  }

  /** Newest first. */
  async list(scope: Scope): Promise<Endpoint[]> {
    const rows = await this.reader.query<Row>(LIST, [scope.accountId, scope.mode]);
    return rows.map((row) => ({
      id: row.id,
      url: row.url,
      events: row.events,
      status: row.status,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }));
  }

  /** Active endpoints of these accounts and modes that have one of the names; oldest first. */
  async subscribed(tx: Tx, scopes: readonly Scope[], names: readonly string[]): Promise<SubscribedEndpoint[]> {
    const rows = await tx.query<{ id: string; account_id: string; mode: Mode; events: string[] }>(SUBSCRIBED, [
      scopes.map((scope) => scope.accountId),
      scopes.map((scope) => scope.mode),
      names,
    ]);
    return rows.map((row) => ({ id: row.id, accountId: row.account_id, mode: row.mode, events: row.events }));
  }

  deactivate(tx: Tx, id: string, url: string, at: Date): void {
    tx.defer(DEACTIVATE, [id, url, at]);
  }
}
