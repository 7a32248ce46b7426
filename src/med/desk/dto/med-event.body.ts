import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EnumOf, Integer, Text, Time } from '../../../core/http/index.js';
import { MONEY_OUTCOMES, type MoneyOutcome } from '../../cases/med-cases.machine.js';

const CHARGE = 'ch_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';

export class MedEventChargeBody {
  @Text('`ch_<uuid>`.', CHARGE) id!: string;
  @Integer('Amount of the charge, smallest unit.', 1990) amount!: number;
  @ApiProperty({
    description: 'Metadata of the charge.',
    type: 'object',
    additionalProperties: true,
    nullable: true,
    example: { order_id: '1042' },
  })
  metadata!: object | null;
}

/** Fields beside `object` in `data` of events of MED cases. Events of an earlier version lack them. */
export class MedDataBody {
  @ApiPropertyOptional({ description: 'The disputed charge.', type: MedEventChargeBody }) charge?: MedEventChargeBody;
  @ApiPropertyOptional({ description: 'Amount that the case holds now.', type: 'integer', example: 1990 })
  held_amount?: number;
  @ApiPropertyOptional({
    description: 'Until when the case can be answered.',
    type: String,
    format: 'date-time',
    nullable: true,
    example: '2026-11-28T12:00:00.000Z',
  })
  response_deadline?: string | null;
}

export class MedResolutionBody {
  @EnumOf('Final destination of the money.', MONEY_OUTCOMES) money_outcome!: MoneyOutcome;
  @Integer('Amount that was held or corrected, smallest unit; after a loss, the whole lost amount.', 1990)
  amount!: number;
  @Text('ISO 4217.', 'BRL') currency!: string;
  @Text('The disputed charge.', CHARGE) charge_id!: string;
  @Time('When the money had its final destination.') resolved_at!: string;
}

/** Fields beside `object` in `data` of `med.resolved`. */
export class MedResolvedDataBody extends MedDataBody {
  @ApiProperty({ description: 'The final destination of the money.', type: MedResolutionBody })
  resolution!: MedResolutionBody;
}
