import { ApiProperty } from '@nestjs/swagger';
import type { Mode } from '../../core/mode.js';

const TIME = { format: 'date-time', example: '2026-11-21T12:00:00.000Z' };

export class NegativeBalanceBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['negative_balance'] }) object!: string;
  @ApiProperty({ description: 'Whose.', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' }) account_id!: string;
  @ApiProperty({ description: 'World it belongs to.', enum: ['test', 'live'] }) mode!: Mode;
  @ApiProperty({ description: 'ISO 4217.', example: 'BRL' }) currency!: string;
  @ApiProperty({ description: 'What is available, below zero; smallest unit.', type: 'integer', example: -1990 })
  available!: number;
  @ApiProperty({ description: 'Since when it is below zero, UTC.', ...TIME }) negative_since!: string;
  @ApiProperty({
    description: 'When the merchant is told (again), UTC; null: not any more.',
    type: String,
    nullable: true,
    ...TIME,
  })
  next_notice_at!: string | null;
}

export class NegativeBalanceListBody {
  @ApiProperty({ description: 'Kind of object.', enum: ['list'] }) object!: 'list';
  @ApiProperty({ description: 'Below zero for longest first.', type: [NegativeBalanceBody] })
  data!: NegativeBalanceBody[];
  @ApiProperty({ description: 'Whether there are more.' }) has_more!: boolean;
  @ApiProperty({
    description: 'Send as `starting_after`; null on the last page.',
    type: String,
    nullable: true,
    example: '1763726400000_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12_live_BRL',
  })
  next_cursor!: string | null;
}
