import { ApiProperty } from '@nestjs/swagger';
import { EnumOf, Integer, NullableInteger, NullableText, Text, Time } from '../../core/http/index.js';
import { PAYMENT_METHODS } from '../../transactions/index.js';

/** Amounts by currency code, in the smallest unit. */
export type AmountsByCurrency = Record<string, number>;
/** Plain amounts when one currency was asked for. */
export type Volume = number | AmountsByCurrency;

const percent = (description: string): PropertyDecorator =>
  ApiProperty({ description: `${description}, in whole per cent; 0 of nothing.`, type: 'integer', example: 80 });
const day = (description: string, example = '2026-11-20'): PropertyDecorator =>
  ApiProperty({ description, format: 'date', example });

const AMOUNTS = { type: 'object' as const, additionalProperties: { type: 'integer' } };
const amounts = (description: string): PropertyDecorator =>
  ApiProperty({ description: `${description}, by currency.`, ...AMOUNTS, example: { BRL: 1990 } });
const volume = (description: string): PropertyDecorator =>
  ApiProperty({
    description: `${description}: by currency, or one number when one currency was asked for.`,
    oneOf: [AMOUNTS, { type: 'integer' }],
    example: { BRL: 1990 },
  });

export class CurrencyVolumeBody {
  @Text('Currency code.', 'BRL') currency!: string;
  @Integer('Smallest unit.', 7960) volume!: number;
  @Integer('Payments.', 4) count!: number;
}

export class DayVolumeBody {
  @day('Of São Paulo, see `basis`.') date!: string;
  @amounts('Volume of the day') currencies!: AmountsByCurrency;
}

export class MethodVolumeBody {
  @EnumOf('By which it was paid.', PAYMENT_METHODS) method!: string;
  @Integer('Smallest units, of all currencies together.', 7960) volume!: number;
  @Integer('Payments.', 4) count!: number;
}

export class StatsBody {
  @Integer('Payments created in the window.', 5) totalTransactions!: number;
  @Integer('Those that were ever paid, whatever happened to the money later, see `basis`.', 4)
  paidTransactions!: number;
  @Integer('Payments created today.', 1) todayTransactions!: number;
  @percent('Paid of created') successRate!: number;
  @ApiProperty({ description: 'What was paid, before fees and refunds.', type: [CurrencyVolumeBody] })
  volumeByCurrency!: CurrencyVolumeBody[];
  @amounts('What was paid of the payments created today, or with `basis=paid` what was paid today')
  todayVolumeByCurrency!: AmountsByCurrency;
  @ApiProperty({
    description: 'One point for each calendar day, the oldest first; the 366 most recent of a longer window.',
    type: [DayVolumeBody],
  })
  dailyVolume!: DayVolumeBody[];
  @ApiProperty({ description: 'What was paid, by the method used.', type: [MethodVolumeBody] })
  methodBreakdown!: MethodVolumeBody[];
}

export class FunnelBody {
  @Integer('All payments of the window.', 10) created!: number;
  @Integer('Still waiting, or in flight.', 1) pending!: number;
  @Integer('Ever paid, also those refunded or disputed by now.', 6) paid!: number;
  @Integer('Refused by the acquirer or the issuer.', 1) failed!: number;
  @Integer('Not paid in time.', 1) expired!: number;
  @Integer('Cancelled by the merchant.', 1) cancelled!: number;
  @Integer('Refunded in full.', 1) refunded!: number;
  @Integer('In dispute, or charged back.', 0) disputed!: number;
  @percent('Paid of created') conversionRate!: number;
}

export class VolumeBody {
  @volume('Of all payments') created!: Volume;
  @volume('Of those ever paid, before fees and refunds') paid!: Volume;
  @volume('Refunds that have reached the payer, in part or in full') refunded!: Volume;
  @volume('Of those in dispute or charged back') disputed!: Volume;
  @volume('Mean of those paid') averageTicket!: Volume;
}

export class TimeToPayBody {
  @NullableInteger(
    'Half of the payments took at most this long from creation. Exact up to 20 s, less than 10 % off above. Null of nothing.',
    42,
  )
  p50Seconds!: number | null;
  @NullableInteger('The same of nine in ten.', 310) p90Seconds!: number | null;
}

export class DayMetricsBody {
  @day('Of São Paulo, on which the payments were created.') date!: string;
  @Integer('Payments created.', 5) created!: number;
  @Integer('Those of them that were ever paid.', 4) paid!: number;
  @volume('Of those paid') volume!: Volume;
}

export class MethodMetricsBody {
  @EnumOf('Method.', PAYMENT_METHODS) method!: string;
  @Integer('Payments that could be paid with it: one with several methods counts for each.', 5) created!: number;
  @Integer('Those that were paid with it.', 4) paid!: number;
  @percent('Paid of created') conversionRate!: number;
  @volume('Of those paid') volume!: Volume;
  @Integer('Payments in `volume`.', 4) count!: number;
}

/** Source: docs/contract.md#statistics. */
export class MetricsBody {
  @Integer('Business days, as asked for.', 7) days!: number;
  @NullableText('As asked for.', 'BRL') currency!: string | null;
  @day('First day of the window.', '2026-11-12') from!: string;
  @day('Last day of the window: today.') to!: string;
  @Text('Of all days.', 'America/Sao_Paulo') timezone!: string;
  @ApiProperty({
    description: 'What has become of the payments created in the window, as of now.',
    type: FunnelBody,
  })
  funnel!: FunnelBody;
  @ApiProperty({ description: 'In the smallest unit.', type: VolumeBody }) volume!: VolumeBody;
  @ApiProperty({ description: 'From creation to payment.', type: TimeToPayBody }) timeToPay!: TimeToPayBody;
  @ApiProperty({ description: 'One point for each calendar day, the oldest first.', type: [DayMetricsBody] })
  dailyVolume!: DayMetricsBody[];
  @ApiProperty({ description: 'By method, those offered only.', type: [MethodMetricsBody] })
  methodBreakdown!: MethodMetricsBody[];
}

export class PeriodBody {
  @Time('Begin, inclusive.', '2026-11-20T03:00:00.000Z') from!: string;
  @Time('End, exclusive.', '2026-11-20T17:05:00.000Z') to!: string;
  @Integer('Payments received.', 4) count!: number;
  @Integer('Received, before fees and refunds, in the smallest unit.', 7960) amount!: number;
  @Integer('Mean of the received payments.', 1990) averageTicket!: number;
  @Integer('Payments created.', 5) created!: number;
  @Integer('Those of the created payments that were ever paid.', 4) createdPaid!: number;
  @percent('Paid of created') conversionRate!: number;
  @Integer('Refunds requested, without failed ones.', 1) refundCount!: number;
  @Integer('Sum of these refunds.', 990) refunded!: number;
}

export class DaysBody {
  @day('First day.') from!: string;
  @day('Last day.') to!: string;
  @Integer('Payments received.', 4) count!: number;
  @Integer('Received, in the smallest unit.', 7960) amount!: number;
}

export class SummaryPointBody extends DaysBody {
  @ApiProperty({ description: 'The point of the period before.', type: DaysBody }) before!: DaysBody;
}

/** Source: docs/contract.md#statistics. */
export class SummaryBody {
  @Text('Currency of all amounts.', 'BRL') currency!: string;
  @Text('Of all days.', 'America/Sao_Paulo') timezone!: string;
  @ApiProperty({ description: 'From midnight until now.', type: PeriodBody }) today!: PeriodBody;
  @ApiProperty({ description: 'The day before, up to the same hour.', type: PeriodBody }) yesterday!: PeriodBody;
  @ApiProperty({ description: 'From the first of the month until now.', type: PeriodBody }) month!: PeriodBody;
  @ApiProperty({
    description: 'The month before, up to the same day and hour, or to its last day if it is shorter.',
    type: PeriodBody,
  })
  lastMonth!: PeriodBody;
  @ApiProperty({
    description: 'The oldest first, today last, each with the point as many points earlier.',
    type: [SummaryPointBody],
  })
  days!: SummaryPointBody[];
}
