import { Column, Entity, PrimaryColumn } from 'typeorm';
import { NotPersonal, Sealed } from '../core/database/index.js';
import type { Mode } from '../core/mode.js';

@NotPersonal('secrets of merchants')
@Entity('webhook_default_secrets')
export class WebhookDefaultSecretEntity {
  @PrimaryColumn('uuid', { name: 'account_id', primaryKeyConstraintName: 'webhook_default_secrets_pkey' })
  readonly accountId!: string;
  @PrimaryColumn('text', { primaryKeyConstraintName: 'webhook_default_secrets_pkey' }) readonly mode!: Mode;
  @Sealed(`'webhook_default_secret:' || account_id || ':' || mode`)
  @Column('bytea', { name: 'secret_sealed' })
  readonly secretSealed!: Buffer;
  @Sealed(`'webhook_default_secret:' || account_id || ':' || mode`)
  @Column('bytea', { name: 'previous_secret_sealed', nullable: true })
  readonly previousSecretSealed!: Buffer | null;
  @Column('timestamptz', { name: 'previous_secret_until', nullable: true }) readonly previousSecretUntil!: Date | null;
  @Column('timestamptz', { name: 'created_at' }) readonly createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) readonly updatedAt!: Date;
}
