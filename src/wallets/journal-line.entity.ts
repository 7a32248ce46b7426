import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Bucket } from './balance.entity.js';

@NotPersonal('the books: ids and amounts')
@Entity('journal_lines')
export class JournalLineEntity {
  @PrimaryColumn('uuid', { name: 'entry_id', primaryKeyConstraintName: 'journal_lines_pkey' })
  readonly entryId!: string;
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'journal_lines_pkey' }) readonly line!: number;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly currency!: string;
  @Column('text') readonly bucket!: Bucket;
  @Column('bigint') readonly amount!: Amount;
  /** Number and time of the entry, repeated here for an index. */
  @Column('bigint') readonly number!: number;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  /** The bucket's balance after this line. */
  @Column('bigint', { name: 'balance_after' }) readonly balanceAfter!: Amount;
}
