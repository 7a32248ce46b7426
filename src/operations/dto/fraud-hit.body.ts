import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';
import type { Mode } from '../../core/mode.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class FraudHitBody {
  @ApiProperty({ description: 'Id of the hit.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['fraud_hit'] }) object!: string;
  @ApiProperty({ description: 'Whose request.', example: '019aa0f0-0000-7000-8000-000000000001' }) account_id!: string;
  @ApiProperty({ description: 'World it belongs to.', enum: ['test', 'live'] }) mode!: Mode;
  @ApiProperty({
    description: 'The rule, as `error.code` names it.',
    enum: ['fraud.document_blocked', 'fraud.amount_limit_exceeded', 'fraud.velocity_exceeded'],
  })
  code!: string;
  @ApiProperty({
    description: 'True when the request was refused; false in shadow mode, where it went on.',
    example: true,
  })
  enforced!: boolean;
  @ApiProperty({ description: 'What was asked for.', enum: ['charge', 'payment', 'refund'] }) operation!: string;
  @ApiProperty({ description: 'Smallest unit.', type: 'integer', example: 1990 }) amount!: number;
  @ApiProperty({
    description: 'Of the customer, masked; null when none was sent.',
    type: String,
    nullable: true,
    example: '***.982.247-**',
  })
  document!: string | null;
  @ApiProperty({ description: 'UTC.', format: 'date-time', example: '2026-11-21T12:00:00.000Z' }) created_at!: string;
}

export class FraudHitListBody extends CursorListOf(FraudHitBody) {}
