import { Injectable } from '@nestjs/common';
import { claimDue, columnsOf, lockDue, Reader, read, write, type Tx } from '../../core/database/index.js';
import type { Scope } from '../../core/mode.js';
import { Transaction } from '../transaction.entity.js';
import { EXPIRY_REASON } from '../transaction.js';
import type { TransactionStatus } from '../transactions.machine.js';
import { OPEN } from '../transactions.repository.js';

/**
 * True while the acquirer's answer about the charge, or about a Pix said to pay it, cannot be read. The charge may be
 * paid, so the inbox goes on asking.
 */
const UNREADABLE = `(EXISTS (SELECT 1 FROM acquirer_notifications n WHERE n.acquirer = t.acquirer
       AND n.kind = 'charge' AND n.reference = t.txid AND n.unreadable_since IS NOT NULL)
     OR EXISTS (SELECT 1 FROM acquirer_notifications n WHERE n.acquirer = t.acquirer
       AND n.txid = t.txid AND n.status = 'pending' AND n.unreadable_since IS NOT NULL))`;
/** A Pix for the charge was reported and is not confirmed yet: the charge may have been paid in time. */
const TOLD = `EXISTS (SELECT 1 FROM acquirer_notifications n WHERE n.acquirer = t.acquirer AND n.txid = t.txid
       AND n.status = 'pending' AND n.kind <> 'dispute')`;
/** How long we wait for an answer, or for a reported Pix: from the first question to the one that decides. */
const PATIENCE = `interval '10 minutes'`;
/** True if the acquirer is never asked, or if nothing more is waited for. */
const isHeard = (localAcquirers: string): string =>
  `(t.acquirer = ANY (${localAcquirers}::text[]) OR NOT 'PIX' = ANY (t.payment_methods)
       OR (t.expiry_asked_at IS NOT NULL AND NOT ${UNREADABLE}
         AND (t.expiry_asked_at >= t.expiry_first_asked_at + ${PATIENCE} OR NOT ${TOLD})))`;
const DUE = lockDue('t.id, t.status AS previous_status', 'transactions t', {
  dueAt: 't.expires_at',
  where: `${OPEN} AND ($3::uuid IS NULL OR (t.account_id = $3 AND t.mode = $4)) AND ${isHeard('$5')}
       AND ($6::uuid IS NULL OR t.id = $6)`,
});
/** Writes the failure block of `expiryFailure`, so that reads before and after the sweep are equal. */
const EXPIRE_DUE = write(
  'transactions.expire_due',
  `WITH due AS MATERIALIZED (${DUE})
   UPDATE transactions t SET status = 'EXPIRED', updated_at = $1,
     failure = jsonb_build_object('reason', '${EXPIRY_REASON}'::text, 'providerErrorCode', 'expired',
       'ttlSeconds', round(extract(epoch FROM t.expires_at - t.created_at))::int,
       'at', to_char(t.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
   FROM due WHERE t.id = due.id RETURNING ${columnsOf(Transaction, 't', { within: 'transaction' })},
     due.previous_status AS "previousStatus"`,
);
const HAS_DUE = read(
  'transactions.has_due',
  `SELECT 1 FROM transactions t WHERE ${OPEN} AND t.expires_at <= $1 AND t.account_id = $2 AND t.mode = $3
     AND ${isHeard('$4')} LIMIT 1`,
);

/** Leases the rows. A row whose question was not answered is claimed again after the lease. */
const CLAIM = claimDue('expiry.claim', 'transactions t', {
  key: 't.id',
  dueAt: 't.expires_at',
  where: `${OPEN} AND NOT t.acquirer = ANY ($4::text[]) AND 'PIX' = ANY (t.payment_methods)
       AND (t.expiry_asked_at IS NULL OR ${TOLD}) AND (t.expiry_ask_at IS NULL OR t.expiry_ask_at <= $3)
       AND NOT ${UNREADABLE}`,
  set: 'expiry_ask_at = $5',
  returning: 't.id, t.acquirer, t.expires_at AS "expiresAt"',
});
const WAIT = write(
  'expiry.wait',
  `UPDATE transactions t SET expiry_ask_at = w.until FROM unnest($1::uuid[], $2::timestamptz[]) AS w (id, until)
   WHERE t.id = w.id AND ${OPEN}`,
);
const ASKED = write(
  'expiry.asked',
  `UPDATE transactions t SET expiry_first_asked_at = coalesce(t.expiry_first_asked_at, $2),
     expiry_asked_at = CASE WHEN t.expiry_first_asked_at <= $2::timestamptz - ${PATIENCE} OR ($3::boolean AND NOT ${TOLD})
       THEN $2 ELSE t.expiry_asked_at END
   WHERE t.id = $1 AND ${OPEN}`,
);
const PUT_OFF = write(
  'expiry.put_off',
  `UPDATE transactions t SET expiry_first_asked_at = $2 WHERE t.id = $1 AND ${OPEN} AND t.expiry_first_asked_at IS NULL`,
);

/** Facts that decide whether a charge past its expiry may be written as expired. */
export interface ExpiryDue {
  readonly now: Date;
  /** Acquirers that are not asked. */
  readonly localAcquirers: readonly string[];
}

/** A leased charge, to be asked about. */
export interface ClaimedExpiry {
  readonly id: string;
  readonly acquirer: string;
  readonly expiresAt: Date;
}

/** Finds charges past their expiry, both those still to be asked about and those ready to expire. */
@Injectable()
export class ExpiryRepository {
  constructor(private readonly reader: Reader) {}

  /**
   * Expires charges that are past their expiry and need no more questions, safely in any number of workers.
   * @param due.scope null: all accounts; due.id null: all
   */
  async expireDue(
    tx: Tx,
    due: ExpiryDue & { readonly scope: Scope | null; readonly id: string | null },
    limit: number,
  ): Promise<{ transaction: Transaction; previousStatus: TransactionStatus }[]> {
    return tx.query(EXPIRE_DUE, [due.now, limit, due.scope?.accountId, due.scope?.mode, due.localAcquirers, due.id]);
  }

  /** Returns whether `expireDue` would move a transaction of the account. */
  async hasDue({ accountId, mode }: Scope, { now, localAcquirers }: ExpiryDue): Promise<boolean> {
    return (await this.reader.query(HAS_DUE, [now, accountId, mode, localAcquirers])).length > 0;
  }

  /** @param expiredBefore charges that expired later are not asked about yet */
  async claim(
    tx: Tx,
    { now, localAcquirers }: ExpiryDue,
    expiredBefore: Date,
    leasedUntil: Date,
    limit: number,
  ): Promise<ClaimedExpiry[]> {
    return tx.query(CLAIM, [expiredBefore, limit, now, localAcquirers, leasedUntil]);
  }

  /** Sets the time of the next claim for each charge, in place of the end of its lease. */
  wait(tx: Tx, claimed: readonly { readonly id: string; readonly until: Date }[]): void {
    tx.defer(WAIT, [claimed.map(({ id }) => id), claimed.map(({ until }) => until)]);
  }

  /** Ends a question. @param at when it began @param isAnswered the acquirer has reported the charge's state */
  asked(tx: Tx, id: string, at: Date, isAnswered: boolean): void {
    tx.defer(ASKED, [id, at, isAnswered]);
  }

  /**
   * Postpones the question, because the acquirer does not answer questions about other charges. The ten minutes
   * (`PATIENCE`) begin with the first postponement.
   */
  putOff(tx: Tx, id: string, at: Date): void {
    tx.defer(PUT_OFF, [id, at]);
  }
}
