import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, Integer, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';

export class WorkBody {
  @EnumOf('Kind of object.', ['work']) object!: string;
  @Text('What is to be done.', 'refund') kind!: string;
  @Text('Of what it is to be done about: of the kind `refund` the refund’s id.', '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12')
  subject_id!: string;
  @Time('When it is done (again), UTC.') due_at!: string;
  @Integer('How often it was begun.', 3) attempts!: number;
  @NullableTime('Until when a worker that runs it now is not taken for dead, UTC; null otherwise.')
  leased_until!: string | null;
  @NullableText('What it failed by; null without a failure.', null) last_error!: string | null;
  @NullableTime('Since when it fails, UTC; null while it has not failed.') failing_since!: string | null;
}

export class WorkListBody {
  @EnumOf('Kind of object.', ['list']) object!: string;
  @ApiProperty({ description: 'Due longest first.', type: [WorkBody] }) data!: WorkBody[];
  @ApiProperty({ description: 'Whether there are more.' }) has_more!: boolean;
}
