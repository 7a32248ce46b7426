import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../database/index.js';

/** A key of stored hashes. There is one, unless an operator gave up the key that sealed it. */
@NotPersonal('keys of the service')
@Entity('payout_hash_keys')
export class HashKey {
  @PrimaryColumn('smallint', { primaryKeyConstraintName: 'payout_hash_keys_pkey' }) readonly number!: number;
  @Sealed(`'payout_hash_key:' || number`)
  @Column('bytea', { name: 'key_sealed' })
  readonly keySealed!: Buffer;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
}
