import { LATE, within } from '../core/within.js';
import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { LimitPerIp, Public } from '../auth/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Reader, read } from '../core/database/index.js';
import { Drain } from '../core/drain.js';
import { EnumOf } from '../core/http/index.js';
import { isSame } from '../core/crypto/index.js';
import { notFound } from '../core/errors/index.js';
import { Metrics } from '../core/metrics/index.js';
import { JobQueues } from '../core/queue/index.js';
import { ObjectStorage } from '../storage/index.js';

const ANSWER_MS = 2_000;
/** How long all who ask share one answer, so that they cannot keep the database busy. */
const SHARED_MS = 1_000;
const PING = read('health.ping', 'SELECT 1');

type State = 'up' | 'down';

export class LiveBody {
  @EnumOf('The process answers.', ['up']) status!: 'up';
}

export class ReadyBody {
  @EnumOf('Whether requests can be served.', ['up', 'down']) status!: State;
  @EnumOf('PostgreSQL.', ['up', 'down']) database!: State;
  @EnumOf('Redis; up where there is none.', ['up', 'down']) queue!: State;
  @EnumOf('Where files are kept: the data directory, or an object store.', ['up', 'down']) storage!: State;
}

@ApiTags('Operations')
@Public()
@Controller()
export class HealthController {
  #last: { readonly at: number; readonly answer: Promise<ReadyBody> } | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reader: Reader,
    private readonly jobs: JobQueues,
    private readonly storage: ObjectStorage,
    private readonly metrics: Metrics,
    private readonly drain: Drain,
  ) {}

  @Get('health/live')
  @LimitPerIp({ times: 10 })
  @ApiOperation({ summary: 'Is the process alive?', description: 'Asks nothing of its neighbours.' })
  @ApiResponse({ status: 200, description: 'Alive.', type: LiveBody })
  getLiveness(): LiveBody {
    return { status: 'up' };
  }

  @Get('health/ready')
  @LimitPerIp({ isForMachines: true })
  @ApiOperation({
    summary: 'Can it serve requests?',
    description:
      'Redis or the file storage down is reported but does not make the service unready: the workers look in PostgreSQL by themselves, and without files everything but evidence goes on.',
  })
  @ApiResponse({ status: 200, description: 'Ready.', type: ReadyBody })
  @ApiResponse({
    status: 503,
    description: 'Not ready: the database does not answer, or this process is about to end.',
    type: ReadyBody,
  })
  async getReadiness(@Res({ passthrough: true }) response: Response): Promise<ReadyBody> {
    const now = performance.now();
    if (this.#last === null || now - this.#last.at >= SHARED_MS) this.#last = { at: now, answer: this.#check() };
    const checked = await this.#last.answer;
    const answer: ReadyBody = this.drain.isUnderWay ? { ...checked, status: 'down' } : checked;
    if (answer.status === 'down') response.status(503);
    return answer;
  }

  @Get('metrics')
  @LimitPerIp({ isForMachines: true })
  @ApiOperation({
    summary: 'Metrics for Prometheus',
    description: 'In production only with METRICS_TOKEN set, as `Authorization: Bearer <token>`; otherwise 404.',
  })
  @ApiProduces('text/plain')
  @ApiResponse({ status: 200, description: 'Text exposition format.', schema: { type: 'string' } })
  async getMetrics(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const { metricsToken, production } = this.config;
    const allowed = metricsToken === undefined ? !production : isSame(authorization ?? '', `Bearer ${metricsToken}`);
    if (!allowed) throw notFound('route');
    response.type(this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }

  async #check(): Promise<ReadyBody> {
    const [database, queue, storage] = await Promise.all([
      state(() => this.reader.query(PING, [])),
      state(async () => {
        if (!(await this.jobs.ping())) throw new Error('queue down');
      }),
      state(() => this.storage.check()),
    ]);
    return { status: database, database, queue, storage };
  }
}

async function state(check: () => Promise<unknown>): Promise<State> {
  try {
    return (await within(ANSWER_MS, check())) === LATE ? 'down' : 'up';
  } catch {
    return 'down';
  }
}
