import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, Reader, read, write, type Tx } from '../../core/database/index.js';
import type { IdCursorFilter } from '../../core/http/index.js';
import { idRange } from '../../core/ids.js';
import type { PixApiConnection } from './connection.js';
import { AcquirerConnectionEntity } from './acquirer-connection.entity.js';
import { AcquirerFeeEntity } from './acquirer-fee.entity.js';

/** The parts of a client certificate that are not sealed. */
export interface CertificateFacts {
  /** SHA-256, in hex. */
  readonly fingerprint: string;
  readonly expiresAt: Date;
}

/** A connection as it is stored: its secrets sealed. */
export interface SealedConnection extends Omit<PixApiConnection, 'credentials' | 'version' | 'fees'> {
  readonly sealed: Buffer;
  readonly certificate: CertificateFacts | null;
}

/** A connection as it is read, its secrets sealed. */
export type StoredConnection = Omit<PixApiConnection, 'credentials'> & { readonly sealed: Buffer };

type LockedConnection = Pick<SealedConnection, 'id' | 'accountId' | 'sealed'>;

/** A connection without its secrets, for people. */
export interface ConnectionSummary extends Omit<PixApiConnection, 'credentials'> {
  readonly certificate: CertificateFacts | null;
  readonly webhookRegisteredAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The numbers of the secrets that open the address for callbacks. */
interface CallbacksOfConnection {
  readonly profile: string;
  readonly oldestSecret: number;
  readonly newestSecret: number;
}

const CONNECTION = ['id', 'accountId', 'profile', 'pixKey', 'baseUrl', 'tokenUrl', 'version'] as const;
const FEES = `(SELECT coalesce(json_agg(f), '[]') FROM (
    SELECT ${columnsOf(AcquirerFeeEntity, 'f', { without: ['connectionId', 'createdAt'] })} FROM acquirer_fees f
    WHERE f.connection_id = acquirer_connections.id ORDER BY f.valid_from, f.created_at) f) AS fees`;
const COLUMNS = `${columnsOf(AcquirerConnectionEntity, 'acquirer_connections', { only: CONNECTION })}, ${FEES}`;
const SUMMARY = `${COLUMNS},
  ${columnsOf(AcquirerConnectionEntity, 'acquirer_connections', { only: ['webhookRegisteredAt', 'createdAt', 'updatedAt'] })},
  certificate_fingerprint AS "certificate.fingerprint", certificate_expires_at AS "certificate.expiresAt"`;

interface SummaryRow extends Omit<ConnectionSummary, 'certificate'> {
  readonly certificate: CertificateFacts | { readonly fingerprint: null };
}

const FIND = read(
  'acquirer_connections.find',
  `SELECT ${COLUMNS}, credentials_sealed AS sealed FROM acquirer_connections WHERE id = $1`,
);
const CALLBACKS_OF = read(
  'acquirer_connections.callbacks_of',
  `SELECT profile, callback_secret AS "newestSecret", oldest_callback_secret AS "oldestSecret" FROM acquirer_connections WHERE id = $1`,
);
const PROFILES = read('acquirer_connections.profiles', 'SELECT id, profile FROM acquirer_connections');
const OWNER_OF = read(
  'acquirer_connections.owner_of',
  'SELECT account_id AS "accountId" FROM acquirer_connections WHERE id = $1',
);
const ROTATE_CALLBACK = write(
  'acquirer_connections.rotate_callback',
  'UPDATE acquirer_connections SET callback_secret = callback_secret + 1, updated_at = $2 WHERE id = $1',
);
const NAME_OF = read(
  'acquirer_connections.name_of',
  'SELECT profile, pix_key AS "pixKey" FROM acquirer_connections WHERE id = $1',
);
const LOCK = write(
  'acquirer_connections.lock',
  `SELECT id, account_id AS "accountId", credentials_sealed AS sealed FROM acquirer_connections
   WHERE profile = $1 AND pix_key = $2 FOR UPDATE`,
);
/** Payouts and refunds by cashout that the PSP may have received. Later calls repeat them under the same name. */
const HAS_SENDS_UNDER_WAY = read(
  'acquirer_connections.has_sends_under_way',
  `SELECT 1 FROM payouts p WHERE p.acquirer = $1 AND p.status = 'SENDING'
   UNION ALL
   SELECT 1 FROM refunds r WHERE r.account_id = $2 AND r.mode = 'live' AND r.acquirer = $1 AND r.way = 'cashout'
     AND r.status = 'IN_PROGRESS'
   LIMIT 1`,
);
const INSERT = insertInto('acquirer_connections.insert', AcquirerConnectionEntity, {
  without: ['certificateWarnedDays', 'webhookRegisteredAt', 'callbackSecret', 'oldestCallbackSecret'],
});
const LOCK_BY_ID = write(
  'acquirer_connections.lock_by_id',
  'SELECT 1 FROM acquirer_connections WHERE id = $1 FOR UPDATE',
);
/** Makes clients that know the previous schedules obsolete. */
const CHANGED = write(
  'acquirer_connections.changed',
  'UPDATE acquirer_connections SET version = version + 1 WHERE id = $1',
);
const INSERT_FEE = insertInto('acquirer_fees.insert', AcquirerFeeEntity);
/** A warning belongs to one certificate, and a webhook to one address: a new certificate or address resets them. */
const RENEW = write(
  'acquirer_connections.renew',
  `UPDATE acquirer_connections SET base_url = $2, token_url = $3, credentials_sealed = $4, version = version + 1,
     certificate_warned_days =
       CASE WHEN certificate_fingerprint IS NOT DISTINCT FROM $5::text THEN certificate_warned_days END,
     webhook_registered_at = CASE WHEN base_url IS NOT DISTINCT FROM $2::text THEN webhook_registered_at END,
     certificate_fingerprint = $5, certificate_expires_at = $6, updated_at = $7
   WHERE id = $1`,
);
const LIST = read(
  'acquirer_connections.list',
  `SELECT ${SUMMARY} FROM acquirer_connections WHERE $1::uuid IS NULL OR account_id = $1 ORDER BY id`,
);
const PAGE = read(
  'acquirer_connections.page',
  `SELECT ${SUMMARY} FROM acquirer_connections
   WHERE ($1::uuid IS NULL OR account_id = $1) AND id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
     AND id >= $3::uuid AND id <= $4::uuid
   ORDER BY id DESC LIMIT $5`,
);
/** If the PSP has registered the address with this secret, it no longer calls an older one. */
const REGISTERED = write(
  'acquirer_connections.webhook_registered',
  'UPDATE acquirer_connections SET webhook_registered_at = $2, oldest_callback_secret = greatest(oldest_callback_secret, $3) WHERE id = $1',
);
/** Locks in one order, so that several processes wait for each other and do not deadlock. */
const CLAIM_WARNINGS = write(
  'acquirer_connections.claim_warnings',
  `UPDATE acquirer_connections SET certificate_warned_days = $1 WHERE id IN (
     SELECT id FROM acquirer_connections
     WHERE certificate_expires_at <= $2 AND (certificate_warned_days IS NULL OR certificate_warned_days > $1)
     ORDER BY id FOR UPDATE)
   RETURNING ${SUMMARY}`,
);
const FIRST_EXPIRIES = read(
  'acquirer_connections.first_expiries',
  `SELECT profile, min(certificate_expires_at) AS "expiresAt" FROM acquirer_connections
   WHERE certificate_expires_at > $1 GROUP BY profile`,
);

function toSummary({ certificate, ...row }: SummaryRow): ConnectionSummary {
  return { ...row, certificate: certificate.fingerprint === null ? null : certificate };
}

@Injectable()
export class ConnectionsRepository {
  constructor(private readonly reader: Reader) {}

  async find(id: string): Promise<StoredConnection | null> {
    return this.reader.first<StoredConnection>(FIND, [id]);
  }

  /** The profile of each connection, which never changes. */
  profiles(): Promise<Pick<PixApiConnection, 'id' | 'profile'>[]> {
    return this.reader.query<Pick<PixApiConnection, 'id' | 'profile'>>(PROFILES, []);
  }

  async callbacksOf(id: string): Promise<CallbacksOfConnection | null> {
    return this.reader.first<CallbacksOfConnection>(CALLBACKS_OF, [id]);
  }

  async ownerOf(tx: Tx, id: string): Promise<string | null> {
    const [row] = await tx.query<{ accountId: string }>(OWNER_OF, [id]);
    return row?.accountId ?? null;
  }

  rotateCallback(tx: Tx, id: string, now: Date): void {
    tx.defer(ROTATE_CALLBACK, [id, now]);
  }

  /** Profile and Pix key of a connection; null when there is none. */
  async nameOf(tx: Tx, id: string): Promise<Pick<PixApiConnection, 'profile' | 'pixKey'> | null> {
    return tx.first<Pick<PixApiConnection, 'profile' | 'pixKey'>>(NAME_OF, [id]);
  }

  /** Locks the connection of that profile and Pix key and returns its account; null when there is none. */
  async lock(tx: Tx, profile: string, pixKey: string): Promise<LockedConnection | null> {
    const [row] = await tx.query<LockedConnection>(LOCK, [profile, pixKey]);
    return row ?? null;
  }

  async hasSendsUnderWay(tx: Tx, acquirer: string, accountId: string): Promise<boolean> {
    return (await tx.first(HAS_SENDS_UNDER_WAY, [acquirer, accountId])) !== null;
  }

  /** Locks a connection before reading it, so that nobody adds a schedule meanwhile; null when there is none. */
  async lockById(tx: Tx, id: string): Promise<StoredConnection | null> {
    await tx.query(LOCK_BY_ID, [id]);
    return tx.first<StoredConnection>(FIND, [id]);
  }

  addFee(tx: Tx, fee: AcquirerFeeEntity): void {
    tx.defer(INSERT_FEE, INSERT_FEE.valuesOf(fee));
    tx.defer(CHANGED, [fee.connectionId]);
  }

  async insert(tx: Tx, { sealed, certificate, ...connection }: SealedConnection, now: Date): Promise<void> {
    const values = INSERT.valuesOf({
      ...connection,
      credentialsSealed: sealed,
      certificateFingerprint: certificate?.fingerprint ?? null,
      certificateExpiresAt: certificate?.expiresAt ?? null,
      version: 1,
      createdAt: now,
      updatedAt: now,
    });
    await tx.query(INSERT, values);
  }

  renew(tx: Tx, { id, baseUrl, tokenUrl, sealed, certificate }: SealedConnection, now: Date): void {
    const facts = [certificate?.fingerprint ?? null, certificate?.expiresAt ?? null];
    tx.defer(RENEW, [id, baseUrl, tokenUrl, sealed, ...facts, now]);
  }

  /** @param accountId null: of all accounts */
  async list(accountId: string | null): Promise<ConnectionSummary[]> {
    return (await this.reader.query<SummaryRow>(LIST, [accountId])).map(toSummary);
  }

  /** Newest first. @param accountId null: of all accounts */
  async page(accountId: string | null, filter: IdCursorFilter): Promise<ConnectionSummary[]> {
    const { before, createdFrom, createdTo, limit } = filter;
    const rows = await this.reader.query<SummaryRow>(PAGE, [
      ...[accountId, before],
      ...idRange(createdFrom, createdTo),
      limit,
    ]);
    return rows.map(toSummary);
  }

  webhookRegistered(tx: Tx, id: string, at: Date, secret: number): void {
    tx.defer(REGISTERED, [id, at, secret]);
  }

  /** Claims connections whose certificate ends by `until` and whose last warning was earlier than the one of `days`. */
  async claimWarnings(tx: Tx, days: number, until: Date): Promise<ConnectionSummary[]> {
    return (await tx.query<SummaryRow>(CLAIM_WARNINGS, [days, until])).map(toSummary);
  }

  /** The first expiry of a certificate after `since`, by profile. */
  async firstExpiries(since: Date): Promise<Map<string, Date>> {
    const rows = await this.reader.query<{ profile: string; expiresAt: Date }>(FIRST_EXPIRIES, [since]);
    return new Map(rows.map((row) => [row.profile, row.expiresAt]));
  }
}
