import { Injectable } from '@nestjs/common';
import type { Role } from '../accounts/index.js';
import { insertInto, Reader, read, write, type Tx } from '../core/database/index.js';
import type { Session } from './principal.js';
import { RevokedTokenEntity } from './revoked-token.entity.js';

/**
 * One query for every request of a person, by primary keys alone: the user, the role of now, and whether the token was
 * ended, alone or with all others of the user (users and members are read here, never written). A membership that is
 * younger than the token is another one than the token was given for: its predecessor was removed.
 */
const FIND = read(
  'sessions.find',
  `SELECT u.operator, m.role, EXISTS (SELECT 1 FROM revoked_tokens r WHERE r.jti = $3) AS revoked
   FROM users u LEFT JOIN members m ON m.account_id = $2 AND m.user_id = u.id AND m.created_at < $4
   WHERE u.id = $1 AND (u.sessions_from IS NULL OR u.sessions_from < $4)`,
);
const REVOKE = insertInto('sessions.revoke', RevokedTokenEntity, { after: 'ON CONFLICT (jti) DO NOTHING' });
const REMOVE = write(
  'sessions.remove',
  `DELETE FROM revoked_tokens WHERE jti IN (SELECT jti FROM revoked_tokens WHERE expires_at <= $1 LIMIT $2)
   RETURNING 1`,
);

export interface SessionRow {
  operator: boolean;
  role: Role | null;
  revoked: boolean;
}

@Injectable()
export class SessionsRepository {
  constructor(private readonly reader: Reader) {}

  /** @param token.givenBefore the end of the second in which it was given */
  async find(token: {
    userId: string;
    accountId: string | null;
    jti: string;
    givenBefore: Date;
  }): Promise<SessionRow | null> {
    const [row] = await this.reader.query<SessionRow>(FIND, [
      token.userId,
      token.accountId,
      token.jti,
      token.givenBefore,
    ]);
    return row ?? null;
  }

  revoke(tx: Tx, session: Session): void {
    tx.defer(REVOKE, REVOKE.valuesOf(session));
  }

  /** @returns how many that ended by then are gone now */
  async remove(tx: Tx, endedBefore: Date, limit: number): Promise<number> {
    return (await tx.query(REMOVE, [endedBefore, limit])).length;
  }
}
