import { Controller, Get, Headers, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiProperty, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { Public } from '../auth/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Reader, read } from '../core/database/index.js';
import { COMMON_HEADERS } from '../core/http/index.js';
import { notFound } from '../core/errors/index.js';
import { Metrics } from '../core/metrics/index.js';
import { JobQueue } from '../core/queue/index.js';
import { ObjectStorage } from '../storage/index.js';

const ANSWER_MS = 2_000;
const PING = read('health.ping', 'SELECT 1');

type State = 'up' | 'down';

export class LiveBody {
  @ApiProperty({ description: 'The process answers.', enum: ['up'] }) status!: 'up';
}

export class ReadyBody {
  @ApiProperty({ description: 'Whether requests can be served.', enum: ['up', 'down'] }) status!: State;
  @ApiProperty({ description: 'PostgreSQL.', enum: ['up', 'down'] }) database!: State;
  @ApiProperty({ description: 'Redis, or the in-process queue.', enum: ['up', 'down'] }) queue!: State;
  @ApiProperty({ description: 'Where files are kept: the data directory, or an object store.', enum: ['up', 'down'] })
  storage!: State;
}

@ApiTags('Operations')
@Public()
@Controller()
export class HealthController {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reader: Reader,
    private readonly queue: JobQueue,
    private readonly storage: ObjectStorage,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @ApiOperation({ summary: 'Is the process alive?', description: 'Asks nothing of its neighbours.' })
  @ApiResponse({ status: 200, description: 'Alive.', type: LiveBody, headers: COMMON_HEADERS })
  live(): LiveBody {
    return { status: 'up' };
  }

  @Get('health/ready')
  @ApiOperation({
    summary: 'Can it serve requests?',
    description:
      'Redis or the file storage down is reported but does not make the service unready: the workers look in PostgreSQL by themselves, and without files everything but evidence goes on.',
  })
  @ApiResponse({ status: 200, description: 'Ready.', type: ReadyBody, headers: COMMON_HEADERS })
  @ApiResponse({
    status: 503,
    description: 'Not ready: the database does not answer.',
    type: ReadyBody,
    headers: COMMON_HEADERS,
  })
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadyBody> {
    const [database, queue, storage] = await Promise.all([
      state(() => within(ANSWER_MS, this.reader.query(PING, []))),
      state(async () => {
        if (!(await this.queue.ping())) throw new Error('queue down');
      }),
      state(() => within(ANSWER_MS, this.storage.check())),
    ]);
    const status = database;
    if (status === 'down') response.status(503);
    return { status, database, queue, storage };
  }

  @Get('metrics')
  @ApiOperation({
    summary: 'Metrics for Prometheus',
    description: 'In production only with METRICS_TOKEN set, as `Authorization: Bearer <token>`; otherwise 404.',
  })
  @ApiProduces('text/plain')
  @ApiResponse({
    status: 200,
    description: 'Text exposition format.',
    schema: { type: 'string' },
    headers: COMMON_HEADERS,
  })
  async show(
    @Headers('authorization') authorization: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const { metricsToken, production } = this.config;
    const allowed = metricsToken === undefined ? !production : authorization === `Bearer ${metricsToken}`;
    if (!allowed) throw notFound('route');
    response.type(this.metrics.registry.contentType);
    return this.metrics.registry.metrics();
  }
}

async function state(check: () => Promise<unknown>): Promise<State> {
  try {
    await check();
    return 'up';
  } catch {
    return 'down';
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('timed out')), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
