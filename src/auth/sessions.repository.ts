import { Injectable } from '@nestjs/common';
import type { Role } from '../accounts/index.js';
import { CLOCK_SKEW_SECONDS } from '../core/clock.js';
import { columnsOf, insertInto, read, Reader, removeDue, type Tx, write } from '../core/database/index.js';
import { Retained } from '../core/retention.js';
import { SessionEntity } from './session.entity.js';

/**
 * Reads in one query, by primary keys alone, whether the login continues, and the current role: every request of a
 * person runs it.
 */
const FIND = read(
  'sessions.find',
  `SELECT u.operator, m.role, u.totp_confirmed_at IS NOT NULL AS "hasSecondFactor", s.used_at AS "usedAt",
     s.created_at AS "createdAt"
   FROM sessions s JOIN users u ON u.id = s.user_id
   LEFT JOIN members m ON m.account_id = s.account_id AND m.user_id = s.user_id
   WHERE s.id = $1 AND s.user_id = $2 AND s.account_id IS NOT DISTINCT FROM $3::uuid`,
);
const LIST = read(
  'sessions.list',
  `SELECT ${columnsOf(SessionEntity, 's')} FROM sessions s
   WHERE s.user_id = $1 AND s.expires_at > $2 ORDER BY s.created_at DESC, s.id DESC`,
);
const INSERT = insertInto('sessions.insert', SessionEntity);
const TOUCH = write('sessions.touch', 'UPDATE sessions SET used_at = $2 WHERE id = $1 AND used_at < $2');
const PROLONG = write('sessions.prolong', 'UPDATE sessions SET expires_at = $2 WHERE id = $1 AND expires_at < $2');
const END = write('sessions.end', 'DELETE FROM sessions WHERE id = $1 AND user_id = $2 RETURNING 1');
const END_ALL = write('sessions.end_all', 'DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid');
const REMOVE = removeDue('sessions.remove', 'sessions', { dueAt: 'expires_at' });

/** The person behind a token at this time. */
export interface SessionHolder {
  readonly operator: boolean;
  readonly role: Role | null;
  readonly hasSecondFactor: boolean;
  readonly usedAt: Date;
  readonly createdAt: Date;
}

@Injectable()
export class SessionsRepository {
  constructor(private readonly reader: Reader) {}

  async find(id: string, userId: string, accountId: string | null): Promise<SessionHolder | null> {
    return this.reader.first<SessionHolder>(FIND, [id, userId, accountId]);
  }

  /** Newest first; without expired sessions. */
  async list(userId: string, now: Date): Promise<SessionEntity[]> {
    return this.reader.query(LIST, [userId, now]);
  }

  insert(tx: Tx, session: SessionEntity): void {
    tx.defer(INSERT, INSERT.valuesOf(session));
  }

  /** @param hour of the request */
  touch(tx: Tx, id: string, hour: Date): void {
    tx.defer(TOUCH, [id, hour]);
  }

  prolong(tx: Tx, id: string, expiresAt: Date): void {
    tx.defer(PROLONG, [id, expiresAt]);
  }

  /** @returns whether the user had such a session */
  async end(tx: Tx, id: string, userId: string): Promise<boolean> {
    return (await tx.query(END, [id, userId])).length > 0;
  }

  /** Ends all sessions of the user but `except`. The caller holds the user's lock. */
  endAll(tx: Tx, userId: string, except: string | null): void {
    tx.defer(END_ALL, [userId, except]);
  }

  /** Removes sessions that ended by then; a little later, for processes whose clock is behind. @returns how many */
  @Retained('sessions', CLOCK_SKEW_SECONDS * 1000)
  async remove(tx: Tx, endedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [endedBefore, limit])).length;
  }
}
