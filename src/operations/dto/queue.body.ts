import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, Integer, NullableTime } from '../../core/http/index.js';
import { OPERATOR_QUEUES, type OperatorQueueName } from '../../core/operator-queues.js';

export class OperatorQueueBody {
  @EnumOf('Kind of object.', ['operator_queue']) object!: string;
  @EnumOf('Which list it counts.', OPERATOR_QUEUES) name!: OperatorQueueName;
  @Integer('How much waits.', 2) waiting!: number;
  @NullableTime('Since when the oldest one waits, UTC; null: nothing does.') oldest_at!: string | null;
}

export class OperatorQueueListBody {
  @EnumOf('Kind of object.', ['list']) object!: string;
  @ApiProperty({ description: 'All queues, in a fixed order.', type: [OperatorQueueBody] }) data!: OperatorQueueBody[];
}
