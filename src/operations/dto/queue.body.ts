import { ApiProperty } from '@nestjs/swagger';
import { OPERATOR_QUEUES, type OperatorQueueName } from '../../core/operator-queues.js';

export class OperatorQueueBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['operator_queue'] }) object!: string;
  @ApiProperty({ description: 'Which list it counts.', enum: OPERATOR_QUEUES }) name!: OperatorQueueName;
  @ApiProperty({ description: 'How much waits.', type: 'integer', example: 2 }) waiting!: number;
  @ApiProperty({
    description: 'Since when the oldest one waits, UTC; null: nothing does.',
    type: String,
    nullable: true,
    format: 'date-time',
    example: '2026-11-21T12:00:00.000Z',
  })
  oldest_at!: string | null;
}

export class OperatorQueueListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: string;
  @ApiProperty({ description: 'All queues, in a fixed order.', type: [OperatorQueueBody] }) data!: OperatorQueueBody[];
}
