import { Injectable } from '@nestjs/common';
import { SecretBox } from '../crypto/index.js';
import {
  columnsOf,
  insertInto,
  oneOf,
  read,
  Reader,
  type Tx,
  write,
  writeRow,
  claimDue,
  removeDue,
} from '../database/index.js';
import { HashKeys } from '../hash-keys/index.js';
import type { Scope } from '../mode.js';
import { IdempotencyKeyEntity } from './idempotency-key.entity.js';
import { Retained } from '../retention.js';

/** Time for which a repetition gets the stored answer. */
export const REPLAY_MS = 24 * 3600 * 1000;

/** A request with its key, which is unique within account, mode and operation: docs/contract.md#idempotency. */
export interface IdempotentRequest extends Scope {
  readonly operation: string;
  readonly key: string;
  /** SHA-256 of the body. Stored keyed, because a tax id could be found by trying all bodies. */
  readonly fingerprint: Buffer;
  /**
   * True for keys in the body of payments and refunds, which are kept permanently. Other keys are kept for 24 hours.
   */
  readonly permanent?: boolean;
}

/** The stored row without its identity columns; `expiresAt` is null for a permanent key. */
export type IdempotencyRow = Omit<IdempotencyKeyEntity, (typeof IDENTITY)[number]>;

const IDENTITY = ['accountId', 'mode', 'operation', 'key'] as const;
const ME = 'account_id = $1 AND mode = $2 AND operation = $3 AND key = $4';

const INSERT = insertInto('idempotency.insert', IdempotencyKeyEntity, { inOrderOf: IDENTITY });
const FIND = oneOf(
  read(
    'idempotency.find',
    `SELECT ${columnsOf(IdempotencyKeyEntity, 'k', { without: IDENTITY })} FROM idempotency_keys k WHERE ${ME}`,
  ),
  ...['uuid', 'text', 'text', 'text'],
);
const COMPLETE = write(
  'idempotency.complete',
  `UPDATE idempotency_keys SET response_status = $5, response_body = $6 WHERE ${ME}`,
);
const HAND_ON = write('idempotency.hand_on', `UPDATE idempotency_keys SET leased_until = $5 WHERE ${ME}`);
/**
 * Locks the key before the resource: the first lock of a commit that answers. No row: the key has an answer, or another
 * owner.
 */
const HOLD = write(
  'idempotency.hold',
  `SELECT 1 FROM idempotency_keys WHERE ${ME} AND resource_id = $5 AND response_status IS NULL FOR UPDATE`,
);
const RELEASE = write(
  'idempotency.release',
  `DELETE FROM idempotency_keys WHERE ${ME} AND resource_id = $5 AND response_status IS NULL`,
);
const DELETE_EXPIRED = write(
  'idempotency.delete_expired',
  `DELETE FROM idempotency_keys WHERE ${ME} AND expires_at <= $5`,
);
const TAKE_OVER = write(
  'idempotency.take_over',
  `UPDATE idempotency_keys SET leased_until = $6 WHERE ${ME} AND leased_until <= $5 AND response_status IS NULL
   RETURNING resource_id`,
);
const REMOVE = removeDue('idempotency.remove', 'idempotency_keys', { key: 'ctid', dueAt: 'expires_at' });
/**
 * Blanks stored answers of permanent keys. Such a key is created and answered in one commit and has only that one
 * lease, so `leased_until` shows its age.
 */
const FORGET = claimDue('idempotency.forget', 'idempotency_keys', {
  key: 'ctid',
  dueAt: 'leased_until',
  where: 'expires_at IS NULL AND response_body IS NOT NULL',
  set: 'response_body = NULL',
});

/** Binds a sealed answer to its row. */
function contextOf({ accountId, mode, operation, key }: IdempotentRequest): string {
  return `idempotency:${accountId}/${mode}/${operation}/${key}`;
}

/** Purpose of the keyed hash of a body. */
const FINGERPRINT = 'idempotency fingerprint';

/** Text whose keyed hash is stored. Names the row, so that equal bodies of two requests have different hashes. */
function fingerprintTextOf(request: IdempotentRequest): string {
  return `${contextOf(request)} ${request.fingerprint.toString('hex')}`;
}

function identity(request: IdempotentRequest): unknown[] {
  return [request.accountId, request.mode, request.operation, request.key];
}

@Injectable()
export class IdempotencyRepository {
  constructor(
    private readonly reader: Reader,
    private readonly secrets: SecretBox,
    private readonly hashes: HashKeys,
  ) {}

  insert(tx: Tx, request: IdempotentRequest, answer: Omit<IdempotencyRow, 'fingerprint'>): void {
    const { responseBody } = answer;
    const sealed = responseBody === null ? null : this.secrets.sealText(responseBody, contextOf(request));
    const fingerprint = this.hashes.hashOf(FINGERPRINT, fingerprintTextOf(request));
    writeRow(tx, INSERT, { ...request, ...answer, fingerprint, responseBody: sealed });
  }

  /** Returns whether the row was written for the same body. Rows of before have its SHA-256 without a key. */
  hasBodyOf({ fingerprint }: Pick<IdempotencyRow, 'fingerprint'>, request: IdempotentRequest): boolean {
    const possible = [...this.hashes.hashesOf(FINGERPRINT, fingerprintTextOf(request)), request.fingerprint];
    return possible.some((one) => one.equals(fingerprint));
  }

  async find(request: IdempotentRequest): Promise<IdempotencyRow | null> {
    const row = await this.reader.one<IdempotencyRow>(FIND, identity(request));
    if (!row) return null;
    const { responseBody } = row;
    return {
      ...row,
      responseBody: responseBody === null ? null : this.secrets.openText(responseBody, contextOf(request)),
    };
  }

  complete(tx: Tx, request: IdempotentRequest, status: number, body: string): void {
    tx.defer(COMPLETE, [...identity(request), status, this.secrets.sealText(body, contextOf(request))]);
  }

  handOn(tx: Tx, request: IdempotentRequest, now: Date): void {
    tx.defer(HAND_ON, [...identity(request), now]);
  }

  async hold(tx: Tx, request: IdempotentRequest, resourceId: string): Promise<boolean> {
    return (await tx.query(HOLD, [...identity(request), resourceId])).length > 0;
  }

  release(tx: Tx, request: IdempotentRequest, resourceId: string): void {
    tx.defer(RELEASE, [...identity(request), resourceId]);
  }

  deleteExpired(tx: Tx, request: IdempotentRequest, now: Date): void {
    tx.defer(DELETE_EXPIRED, [...identity(request), now]);
  }

  /** @returns whether the lease is ours now; only one of several repetitions at once gets it */
  async takeOver(tx: Tx, request: IdempotentRequest, now: Date, leasedUntil: Date): Promise<boolean> {
    const rows = await tx.query(TAKE_OVER, [...identity(request), now, leasedUntil]);
    return rows.length > 0;
  }

  /** Removes keys whose 24 hours are over; permanent ones stay. @returns how many */
  @Retained('idempotency_keys', 0)
  async remove(tx: Tx, now: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [now, limit])).length;
  }

  /** Removes the answers of permanent keys whose lease ended before `before`. @returns how many */
  @Retained('permanent_answers', REPLAY_MS)
  async forget(tx: Tx, before: Date, limit: number): Promise<number> {
    return (await tx.query(FORGET, [before, limit])).length;
  }
}
