import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';

@Entity('journal_entries')
@Unique('journal_entries_cause_key', ['cause'])
@Index('journal_entries_account_id_idx', ['accountId', 'mode', 'id'])
export class JournalEntryEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'journal_entries_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('text') currency!: string;
  @Column('text') cause!: string;
  @Column('uuid', { name: 'transaction_id', nullable: true }) transactionId!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
}

@Entity('journal_lines')
export class JournalLineEntity {
  @ForeignKey('JournalEntryEntity', { name: 'journal_lines_entry_id_fkey' })
  @PrimaryColumn('uuid', { name: 'entry_id', primaryKeyConstraintName: 'journal_lines_pkey' })
  entryId!: string;
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'journal_lines_pkey' }) line!: number;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('text') currency!: string;
  @Column('text') bucket!: string;
  @Column('bigint') amount!: number;
}

@Entity('balances')
export class BalanceEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'balances_pkey' }) accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) mode!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) bucket!: string;
  @Column('bigint') amount!: number;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}

@Entity('releases')
@Unique('releases_transaction_id_key', ['transactionId'])
@Index('releases_due_idx', { synchronize: false }) // of an expression
@Index('releases_next_idx', ['accountId', 'mode', 'currency', 'releaseAt'], { where: 'released_at IS NULL' })
export class ReleaseEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'releases_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id' }) accountId!: string;
  @Column('text') mode!: string;
  @Column('text') currency!: string;
  @Column('uuid', { name: 'transaction_id' }) transactionId!: string;
  @Column('bigint') amount!: number;
  @Column('timestamptz', { name: 'release_at' }) releaseAt!: Date;
  @Column('timestamptz', { name: 'released_at', nullable: true }) releasedAt!: Date | null;
  @Column('integer', { default: 0 }) attempts!: number;
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true }) nextAttemptAt!: Date | null;
}
