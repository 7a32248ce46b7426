import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';

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
