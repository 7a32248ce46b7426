import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, type Tx, write } from '../core/database/index.js';
import { LoginFailureEntity } from './login-failure.entity.js';

const COUNT = insertInto('login_failures.count', LoginFailureEntity, {
  after: `ON CONFLICT (email_hash, ip, minute_at) DO UPDATE SET count = login_failures.count + 1
     RETURNING login_failures.id, login_failures.count`,
});
const TAKE = write(
  'login_failures.take',
  `DELETE FROM login_failures f WHERE f.id = $1
   RETURNING ${columnsOf(LoginFailureEntity, 'f')}, (
     SELECT m.account_id FROM members m WHERE m.user_id = f.user_id ORDER BY m.created_at, m.account_id LIMIT 1
   ) AS "accountId"`,
);

@Injectable()
export class LoginFailuresRepository {
  /** @returns whether it is the first one of its minute */
  async count(tx: Tx, failure: LoginFailureEntity): Promise<boolean> {
    const [row] = await tx.query<{ count: number }>(COUNT, COUNT.valuesOf(failure));
    return row?.count === 1;
  }

  /** Takes a failure out, with the account that the user joined first. Members are read here, never written. */
  async take(tx: Tx, id: string): Promise<(LoginFailureEntity & { accountId: string | null }) | null> {
    return tx.first<LoginFailureEntity & { accountId: string | null }>(TAKE, [id]);
  }
}
