import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Bucket } from './ledger.service.js';
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

@NotPersonal('the books: ids and amounts')
@Entity('balances')
export class BalanceEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'balances_pkey' }) readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) readonly mode!: Mode;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) readonly currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balances_pkey' }) readonly bucket!: Bucket;
  @Column('bigint') readonly amount!: Amount;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
  /** The number of the wallet's last entry; kept in the row of its bucket `available`. */
  @Column('bigint', { default: 0 }) readonly entries!: number;
  /** When `available` went below zero; null if it is not below. */
  @Column('timestamptz', { name: 'negative_since', nullable: true }) readonly negativeSince!: Date | null;
  /** When the merchant's next notice of the negative balance is due; null: no more notices. */
  @Column('timestamptz', { name: 'negative_notice_at', nullable: true }) readonly negativeNoticeAt!: Date | null;
}

/** The sum of a balance's lines up to an entry of its wallet (balance-checks.service.ts). */
@NotPersonal('the books: ids and amounts')
@Entity('balance_checkpoints')
export class BalanceCheckpointEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'balance_checkpoints_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balance_checkpoints_pkey' }) readonly mode!: Mode;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balance_checkpoints_pkey' }) readonly currency!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'balance_checkpoints_pkey' }) readonly bucket!: Bucket;
  @Column('bigint') readonly amount!: Amount;
  /** The number of the last entry with a line in this bucket; `available` has the last number of the wallet. */
  @Column('bigint') readonly number!: number;
}

/** A single row: when a worker last compared all balances with their lines, and how many differed. */
@NotPersonal('the books: ids and amounts')
@Entity('balance_checks')
export class BalanceCheckEntity {
  @PrimaryColumn('boolean', { default: true, primaryKeyConstraintName: 'balance_checks_pkey' }) readonly single!: true;
  @Column('timestamptz', { name: 'checked_at' }) readonly checkedAt!: Date;
  @Column('integer') readonly incoherent!: number;
}

/** `reserve`: the part of a sale that is held longer than the rest. */
export type ReleaseKind = 'sale' | 'reserve';

/** Money that waits in `pending` for its day. */
@NotPersonal('the books: ids and amounts')
export class Release {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'releases_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly currency!: string;
  @Column('uuid', { name: 'transaction_id' }) readonly transactionId!: string;
  @Column('text', { default: 'sale' }) readonly kind!: ReleaseKind;
  @Column('bigint') readonly amount!: Amount;
  @Column('timestamptz', { name: 'release_at' }) readonly releaseAt!: Date;
}

@NotPersonal('the books: ids and amounts')
@Entity('releases')
export class ReleaseEntity extends Release {
  @Column('timestamptz', { name: 'released_at', nullable: true }) readonly releasedAt!: Date | null;
  /** How many attempts failed. */
  @Column('integer', { default: 0 }) readonly attempts!: number;
  @Column('timestamptz', { name: 'next_attempt_at', nullable: true }) readonly nextAttemptAt!: Date | null;
}
