import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { EntryType } from './entry-types.js';

@NotPersonal('the books: ids and amounts')
@Entity('journal_entries')
export class JournalEntryEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'journal_entries_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly currency!: string;
  @Column('text') readonly cause!: string;
  @Column('uuid', { name: 'transaction_id', nullable: true }) readonly transactionId!: string | null;
  /** Never before the time of the wallet's previous entry, even if the clocks of two processes differ. */
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** 1, 2, … without a hole in each wallet (account, mode and currency), in the order of the commits. */
  @Column('bigint') readonly number!: number;
  @Column('text') readonly type!: EntryType;
}
