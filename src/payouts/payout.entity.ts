import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { PayoutRefusal } from '../acquirers/index.js';
import { NotPersonal, Personal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { PayoutStatus } from './payouts.machine.js';
import type { ShownTarget } from './targets.js';

/** Why a payout failed or was cancelled: the PSP's reason, or ours for not sending it. */
export type PayoutFailure =
  | PayoutRefusal
  | 'cancelled'
  | 'approval_refused'
  | 'not_supported'
  | 'destination_not_allowed'
  | 'not_sent'
  | 'revoked_by_bank';

/** Why a payout at the PSP is not over. */
export type ProcessingReason = 'sent' | 'review' | 'unknown' | 'operator';

/** Money on its way out of a merchant's wallet. Amounts in cents. */
@Entity('payouts')
export class Payout {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'payouts_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @NotPersonal('names a connection')
  @Column('text')
  readonly acquirer!: string;
  @Column('bigint') readonly amount!: Amount;
  /** The service's fee, set aside and paid together with the amount. */
  @Column('bigint') readonly fee!: Amount;
  @NotPersonal('a code')
  @Column('text')
  readonly currency!: string;
  @Column('text') readonly status!: PayoutStatus;
  @Column('uuid', { name: 'destination_id', nullable: true }) readonly destinationId!: string | null;
  /** The masked receiver. */
  @NotPersonal('masked: the books show it')
  @Column('jsonb')
  readonly shown!: ShownTarget;
  /** The receiver as JSON of a `PayoutTarget`; null after its erasure. */
  @Personal()
  @Sealed(`'payout:' || id`)
  @Column('bytea', { name: 'target_sealed', nullable: true })
  readonly targetSealed!: Buffer | null;
  /** Equal for equal receivers; empty after its erasure. */
  @Personal({ empty: '' })
  @Column('bytea', { name: 'target_hash' })
  readonly targetHash!: Buffer;
  @Personal()
  @Column('bytea', { name: 'tax_id_hash', nullable: true })
  readonly taxIdHash!: Buffer | null;
  /** Whether the receiver's tax id is the account's own, or of the same company. */
  @Column('boolean', { name: 'is_own' }) readonly isOwn!: boolean;
  @Personal({ erased: 'with_metadata' })
  @Column('text', { nullable: true })
  readonly description!: string | null;
  @Personal({ erased: 'with_metadata', empty: {} })
  @Column('jsonb', { default: {} })
  readonly metadata!: Readonly<Record<string, unknown>>;
  /** The person who requested it, or who issued the API key. */
  @Column('uuid', { name: 'requested_by', nullable: true }) readonly requestedBy!: string | null;
  /** The occurrence of the account's schedule that made it. */
  @Column('timestamptz', { nullable: true }) readonly occurrence!: Date | null;
  @Column('boolean', { name: 'needs_approval' }) readonly needsApproval!: boolean;
  @Column('uuid', { name: 'approved_by', nullable: true }) readonly approvedBy!: string | null;
  @Column('timestamptz', { name: 'approved_at', nullable: true }) readonly approvedAt!: Date | null;
  @Column('timestamptz', { name: 'send_after' }) readonly sendAfter!: Date;
  /** When the PSP was first called; null before, and after a call that was turned away whole. */
  @Column('timestamptz', { name: 'sent_at', nullable: true }) readonly sentAt!: Date | null;
  @Column('text', { name: 'processing_reason', nullable: true }) readonly processingReason!: ProcessingReason | null;
  @NotPersonal('an id that the books keep')
  @Column('text', { name: 'end_to_end_id', nullable: true })
  readonly endToEndId!: string | null;
  /** The PSP's fee, which the platform bears. */
  @Column('bigint', { name: 'provider_fee', default: 0 }) readonly providerFee!: Amount;
  @Column('text', { nullable: true }) readonly failure!: PayoutFailure | null;
  @Column('bigint', { name: 'amount_returned', default: 0 }) readonly amountReturned!: Amount;
  @Column('timestamptz', { name: 'paid_at', nullable: true }) readonly paidAt!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}
