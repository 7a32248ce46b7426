import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PayoutTargetType } from '../acquirers/index.js';
import { NotPersonal, Personal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { ShownTarget } from './targets.js';

/** A receiver that a merchant has saved. */
@Entity('payout_destinations')
export class PayoutDestination {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'payout_destinations_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('text') readonly type!: PayoutTargetType;
  @Personal()
  @Column('text', { nullable: true })
  readonly label!: string | null;
  /** The masked receiver. */
  @NotPersonal('masked: the books show it')
  @Column('jsonb')
  readonly shown!: ShownTarget;
  /** The receiver as JSON of a `PayoutTarget`; null after its erasure, which deletes the destination. */
  @Personal()
  @Sealed(`'payout_destination:' || id`)
  @Column('bytea', { name: 'target_sealed', nullable: true })
  readonly targetSealed!: Buffer | null;
  /** Equal for equal receivers; empty after its erasure. */
  @Personal({ empty: '' })
  @Column('bytea', { name: 'target_hash' })
  readonly targetHash!: Buffer;
  @Personal()
  @Column('bytea', { name: 'tax_id_hash', nullable: true })
  readonly taxIdHash!: Buffer | null;
  /** The person who saved it, or who issued the API key. */
  @Column('uuid', { name: 'created_by', nullable: true }) readonly createdBy!: string | null;
  @Column('uuid', { name: 'approved_by', nullable: true }) readonly approvedBy!: string | null;
  @Column('timestamptz', { name: 'approved_at', nullable: true }) readonly approvedAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'deleted_at', nullable: true }) readonly deletedAt!: Date | null;
}
