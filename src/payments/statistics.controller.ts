import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, Costs, CurrentScope } from '../auth/index.js';
import type { Scope } from '../core/mode.js';
import { StatisticsService, SummaryService } from '../transactions/index.js';
import { MetricsBody, StatsBody, SummaryBody } from './dto/statistics.body.js';
import { DEFAULT_DAYS, DEFAULT_POINTS, MetricsQuery, StatsQuery, SummaryQuery } from './dto/statistics.query.js';
import { METRICS_FIGURES, metricsBody, STATS_FIGURES, statsBody, summaryBody } from './statistics.serializer.js';

const WINDOW =
  'Of a window of days of São Paulo: what was paid counts for the day on which the payment was created, or with `basis=paid` for that of the payment itself. Exact as of this moment.';

@ApiTags('Payments')
@ApiKeyAuth()
@Controller('v1/payments')
export class StatisticsController {
  constructor(
    private readonly statistics: StatisticsService,
    private readonly summaries: SummaryService,
  ) {}

  @Get('stats')
  @Costs(tokensOf)
  @ApiOperation({ summary: 'Read statistics', description: WINDOW })
  @ApiResponse({ status: 200, description: 'The statistics.', type: StatsBody })
  async getPaymentStats(@CurrentScope() scope: Scope, @Query() query: StatsQuery): Promise<StatsBody> {
    const { days = DEFAULT_DAYS, basis } = query;
    const window = await this.statistics.window(scope, days, { ...STATS_FIGURES, currency: null });
    return statsBody(window, basis);
  }

  @Get('metrics')
  @Costs(tokensOf)
  @ApiOperation({ summary: 'Read the conversion funnel and volumes', description: WINDOW })
  @ApiResponse({ status: 200, description: 'The metrics.', type: MetricsBody })
  async getPaymentMetrics(@CurrentScope() scope: Scope, @Query() query: MetricsQuery): Promise<MetricsBody> {
    const { days = DEFAULT_DAYS } = query;
    const currency = query.currency ?? null;
    const window = await this.statistics.window(scope, days, { ...METRICS_FIGURES, currency });
    return metricsBody(window, days, currency, query.basis);
  }

  @Get('summary')
  @Costs(tokensOf)
  @ApiOperation({
    summary: 'Compare what was received',
    description:
      'Today with yesterday and this month with the last one, each up to the same hour and day, and by day with the period before. A payment counts for the day on which it was paid.',
  })
  @ApiResponse({ status: 200, description: 'The figures.', type: SummaryBody })
  async getPaymentSummary(@CurrentScope() scope: Scope, @Query() query: SummaryQuery): Promise<SummaryBody> {
    const { days = DEFAULT_POINTS, count = 'calendar', currency = 'BRL' } = query;
    return summaryBody(await this.summaries.read(scope, currency, days, count === 'bank'), currency);
  }
}

/** Costs a token for each hundred days. */
function tokensOf({ days }: Readonly<Record<string, unknown>>): number {
  return Math.floor(Number(days ?? 0) / 100);
}
