import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/** The chain of hashes that `ledger verify` checks (ledger-chain.service.ts). */
@NotPersonal('the books: ids and amounts')
@Entity('journal_hashes')
export class JournalHashEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'journal_hashes_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'journal_hashes_pkey' }) readonly mode!: Mode;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'journal_hashes_pkey' }) readonly currency!: string;
  @PrimaryColumn('bigint', { primaryKeyConstraintName: 'journal_hashes_pkey' }) readonly number!: number;
  @Column('uuid', { name: 'entry_id' }) readonly entryId!: string;
  @Column('bytea') readonly hash!: Buffer;
}
