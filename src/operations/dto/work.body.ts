import { ApiProperty } from '@nestjs/swagger';

const TIME = { format: 'date-time', example: '2026-11-21T12:00:00.000Z' };

export class WorkBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['work'] }) object!: string;
  @ApiProperty({ description: 'What is to be done.', example: 'refund' }) kind!: string;
  @ApiProperty({
    description: 'Of what it is to be done about: of the kind `refund` the refund’s id.',
    example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  subject_id!: string;
  @ApiProperty({ description: 'When it is done (again), UTC.', ...TIME }) due_at!: string;
  @ApiProperty({ description: 'How often it was begun.', type: 'integer', example: 3 }) attempts!: number;
  @ApiProperty({
    description: 'Until when a worker that runs it now is not taken for dead, UTC; null otherwise.',
    type: String,
    nullable: true,
    ...TIME,
  })
  leased_until!: string | null;
  @ApiProperty({
    description: 'What it failed by; null without a failure.',
    type: String,
    nullable: true,
    example: null,
  })
  last_error!: string | null;
  @ApiProperty({
    description: 'Since when it fails, UTC; null while it has not failed.',
    type: String,
    nullable: true,
    ...TIME,
  })
  failing_since!: string | null;
}

export class WorkListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: string;
  @ApiProperty({ description: 'Due longest first.', type: [WorkBody] }) data!: WorkBody[];
  @ApiProperty({ description: 'Whether there are more.' }) has_more!: boolean;
}
