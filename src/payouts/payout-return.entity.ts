import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';

/** A part of a payout that came back. Append-only. */
@NotPersonal('ids and amounts that the books keep')
@Entity('payout_returns')
export class PayoutReturnEntity {
  @PrimaryColumn('uuid', { name: 'payout_id', primaryKeyConstraintName: 'payout_returns_pkey' })
  readonly payoutId!: string;
  /** The PSP's id. */
  @PrimaryColumn('text', { name: 'return_id', primaryKeyConstraintName: 'payout_returns_pkey' })
  readonly returnId!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('bigint') readonly amount!: Amount;
  @Column('text', { name: 'end_to_end_id', nullable: true }) readonly endToEndId!: string | null;
  @Column('text', { nullable: true }) readonly reason!: string | null;
  @Column('timestamptz', { name: 'returned_at' }) readonly returnedAt!: Date;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
