import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Personal, Sealed } from '../database/index.js';
import type { Mode } from '../mode.js';

@Entity('idempotency_keys')
export class IdempotencyKeyEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'idempotency_keys_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' }) readonly mode!: Mode;
  @NotPersonal('a name of ours')
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' })
  readonly operation!: string;
  @NotPersonal('an id that the merchant has made, and by which a repeated request finds its sale')
  @PrimaryColumn('text', { primaryKeyConstraintName: 'idempotency_keys_pkey' })
  readonly key!: string;
  /** Keyed hash of the body: `IdempotencyRepository.hasBodyOf`. */
  @Personal({ empty: '' })
  @Column('bytea')
  readonly fingerprint!: Buffer;
  @Column('uuid', { name: 'resource_id' }) readonly resourceId!: string;
  @Column('smallint', { name: 'response_status', nullable: true }) readonly responseStatus!: number | null;
  /** Sealed, as what a merchant was answered names the payer; of a permanent key it is forgotten after a day. */
  @Personal({ isCopy: true })
  @Sealed(`'idempotency:' || account_id || '/' || mode || '/' || operation || '/' || key`)
  @Column('text', { name: 'response_body', nullable: true })
  readonly responseBody!: string | null;
  @Column('timestamptz', { name: 'leased_until' }) readonly leasedUntil!: Date;
  /** Null for a permanent key. */
  @Column('timestamptz', { name: 'expires_at', nullable: true }) readonly expiresAt!: Date | null;
}
