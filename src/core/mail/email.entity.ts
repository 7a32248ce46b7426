import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

@Entity('emails')
@Index('emails_ended_idx', ['endedAt'], { where: `status <> 'pending'` })
export class EmailEntity {
  @PrimaryColumn('uuid', { primaryKeyConstraintName: 'emails_pkey' }) id!: string;
  @Column('uuid', { name: 'account_id', nullable: true }) accountId!: string | null;
  @Column('text') recipient!: string;
  @Column('text') subject!: string;
  @Column('text', { name: 'text_body' }) textBody!: string;
  @Column('text', { name: 'html_body' }) htmlBody!: string;
  @Column('text', { default: 'pending' }) status!: string;
  @Column('text', { name: 'last_error', nullable: true }) lastError!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'ended_at', nullable: true }) endedAt!: Date | null;
}
