import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';
import type { Amount } from '../core/money/index.js';
import type { Bucket } from './balance.entity.js';

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
