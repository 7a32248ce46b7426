import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, Costs, CurrentScope } from '../auth/index.js';
import type { Scope } from '../core/mode.js';
import { StatisticsService } from '../transactions/index.js';
import { MetricsBody, StatsBody } from './dto/statistics.body.js';
import { DEFAULT_DAYS, MetricsQuery, StatsQuery } from './dto/statistics.query.js';
import { METRICS_FIGURES, metricsBody, STATS_FIGURES, statsBody } from './statistics.serializer.js';

const WINDOW =
  'Of a window of days of São Paulo: what was paid counts for the day on which the payment was created, or with `basis=paid` for that of the payment itself. Exact as of this moment.';

@ApiTags('Payments')
@ApiKeyAuth()
@Controller('v1/payments')
export class StatisticsController {
  constructor(private readonly statistics: StatisticsService) {}

  @Get('stats')
  @Costs(tokensOf)
  @ApiOperation({ summary: 'Read statistics', description: WINDOW })
  @ApiResponse({ status: 200, description: 'The statistics.', type: StatsBody })
  async stats(@CurrentScope() scope: Scope, @Query() query: StatsQuery): Promise<StatsBody> {
    const { days = DEFAULT_DAYS, basis } = query;
    const window = await this.statistics.window(scope, days, { ...STATS_FIGURES, currency: null });
    return statsBody(window, basis);
  }

  @Get('metrics')
  @Costs(tokensOf)
  @ApiOperation({ summary: 'Read the conversion funnel and volumes', description: WINDOW })
  @ApiResponse({ status: 200, description: 'The metrics.', type: MetricsBody })
  async metrics(@CurrentScope() scope: Scope, @Query() query: MetricsQuery): Promise<MetricsBody> {
    const { days = DEFAULT_DAYS } = query;
    const currency = query.currency ?? null;
    const window = await this.statistics.window(scope, days, { ...METRICS_FIGURES, currency });
    return metricsBody(window, days, currency, query.basis);
  }
}

/** Costs a token for each hundred days. */
function tokensOf({ days }: Readonly<Record<string, unknown>>): number {
  return Math.floor(Number(days ?? 0) / 100);
}
