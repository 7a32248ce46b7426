import { Injectable } from '@nestjs/common';
import { UsersService } from '../accounts/index.js';
import { type Actor, AuditTrail } from '../audit/index.js';
import type { MemberPrincipal } from '../auth/index.js';
import { Clock } from '../core/clock.js';
import { Database } from '../core/database/index.js';
import { forbidden, notFound } from '../core/errors/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { TransactionsService } from '../transactions/index.js';
import type { NoteBody } from './dto/note.body.js';
import type { Note } from './note.entity.js';
import { NotesRepository } from './notes.repository.js';

/** Notes of the merchant's people about payments. */
@Injectable()
export class NotesService {
  constructor(
    private readonly notes: NotesRepository,
    private readonly transactions: TransactionsService,
    private readonly users: UsersService,
    private readonly audit: AuditTrail,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** @returns newest first @throws ApiError 404 for a payment of another account or mode */
  async list(scope: Scope, paymentId: string, filter: IdCursorFilter): Promise<NoteBody[]> {
    await this.transactions.get(scope, paymentId, 'payment');
    const found = await this.notes.list(scope, paymentId, filter);
    const names = await this.users.names([...new Set(found.map(({ authorId }) => authorId))]);
    return found.map((note) => bodyOf(note, names));
  }

  /** @throws ApiError as `list` */
  async add(scope: Scope, paymentId: string, text: string, author: MemberPrincipal, actor: Actor): Promise<NoteBody> {
    await this.transactions.get(scope, paymentId, 'payment');
    const createdAt = this.clock.now();
    const { accountId, mode } = scope;
    const note = {
      ...{ id: newId(createdAt), accountId, mode, transactionId: paymentId },
      ...{ authorId: author.userId, text, createdAt },
    };
    await this.database.transaction((tx) => {
      this.notes.insert(tx, note);
      const data = { mode, transaction_id: paymentId, note_id: note.id };
      this.audit.record(tx, actor, 'payment.note_added', accountId, { data });
      return Promise.resolve();
    });
    return bodyOf(note, await this.users.names([note.authorId]));
  }

  /** @throws ApiError 404, 403 for a member who is neither its author nor an OWNER */
  async delete(scope: Scope, paymentId: string, id: string, member: MemberPrincipal, actor: Actor): Promise<void> {
    const note = await this.notes.find(scope, paymentId, id);
    if (!note) throw notFound('note');
    if (note.authorId !== member.userId && member.role !== 'OWNER') {
      throw forbidden('A note is deleted by its author or by an OWNER.');
    }
    await this.database.transaction(async (tx) => {
      if (!(await this.notes.delete(tx, note))) return;
      const data = { mode: scope.mode, transaction_id: paymentId, note_id: id, author_id: note.authorId };
      this.audit.record(tx, actor, 'payment.note_deleted', scope.accountId, { data });
    });
  }
}

function bodyOf({ id, text, authorId, createdAt }: Note, names: ReadonlyMap<string, string>): NoteBody {
  return { id, text, authorId, authorName: names.get(authorId) ?? null, createdAt: createdAt.toISOString() };
}
