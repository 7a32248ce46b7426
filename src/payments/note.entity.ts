import { Column, Entity, PrimaryColumn } from 'typeorm';
import { Personal } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

/** A note of the merchant's people about a payment; payers and API keys do not see it. */
@Entity('payment_notes')
export class Note {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'payment_notes_pkey' }) readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('text') readonly mode!: Mode;
  @Column('uuid', { name: 'transaction_id' }) readonly transactionId!: string;
  /** The user who wrote it. */
  @Column('uuid', { name: 'author_id' }) readonly authorId!: string;
  /** Null: erased with the customer, who may be named in it. */
  @Personal()
  @Column('text', { nullable: true })
  readonly text!: string | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
