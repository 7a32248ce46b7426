import { Injectable } from '@nestjs/common';
import { columnsOf, insertInto, read, Reader, type Tx, write, writeRow } from '../core/database/index.js';
import type { IdCursorFilter } from '../core/http/index.js';
import { idRange } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { Note } from './note.entity.js';

const OWN = 'n.account_id = $1 AND n.mode = $2 AND n.transaction_id = $3';
const COLUMNS = columnsOf(Note, 'n');
const INSERT = insertInto('payment_notes.insert', Note);
const LIST = read(
  'payment_notes.list',
  `SELECT ${COLUMNS} FROM payment_notes n WHERE ${OWN}
     AND n.id < coalesce($4::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AND n.id >= $5::uuid AND n.id <= $6::uuid
   ORDER BY n.id DESC LIMIT $7`,
);
const FIND = read('payment_notes.find', `SELECT ${COLUMNS} FROM payment_notes n WHERE ${OWN} AND n.id = $4`);
const DELETE = write('payment_notes.delete', `DELETE FROM payment_notes n WHERE ${OWN} AND n.id = $4 RETURNING 1`);

@Injectable()
export class NotesRepository {
  constructor(private readonly reader: Reader) {}

  insert(tx: Tx, note: Note): void {
    writeRow(tx, INSERT, note);
  }

  /** Newest first. */
  async list({ accountId, mode }: Scope, paymentId: string, filter: IdCursorFilter): Promise<Note[]> {
    const { before, createdFrom, createdTo, limit } = filter;
    const values = [accountId, mode, paymentId, before, ...idRange(createdFrom, createdTo), limit];
    return this.reader.query<Note>(LIST, values);
  }

  async find({ accountId, mode }: Scope, paymentId: string, id: string): Promise<Note | null> {
    return this.reader.first<Note>(FIND, [accountId, mode, paymentId, id]);
  }

  /** @returns whether it was still there */
  async delete(tx: Tx, { accountId, mode, transactionId, id }: Note): Promise<boolean> {
    return (await tx.query(DELETE, [accountId, mode, transactionId, id])).length > 0;
  }
}
