import { isIP } from 'node:net';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { Clock } from '../core/clock.js';
import { RowBuffer } from '../core/database/index.js';
import { addressOf, isRead, routeOf } from '../core/http/index.js';
import { newId } from '../core/ids.js';
import { Logger } from '../core/log/index.js';
import { Metrics } from '../core/metrics/index.js';
import type { Mode } from '../core/mode.js';
import { Poller } from '../core/queue/index.js';
import { loggedPath } from './logged-path.js';
import type { RequestLogEntity as RequestLog } from './request-log.entity.js';
import { RequestLogsService } from './request-logs.service.js';

const FLUSH_MS = 500;
const BATCH = 500;
/** Some megabytes; at a thousand requests a second, half a minute without the database. */
const MAX_ROWS = 30_000;
/** Answers 429 to one caller that a process keeps in a minute. */
const MAX_TOO_MANY = 60;

/**
 * Keeps the requests of accounts, beside the request log on stdout: after the answer, in batches, never at the cost of
 * a request. Requests without authentication are on stdout only: they belong to no account.
 */
@Injectable()
export class RequestRecorder implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  readonly #rows: RowBuffer<RequestLog>;
  /** Callers, and how often each was refused as too much within a minute. */
  readonly #tooMany = new LRUCache<string, number>({ max: 10_000, ttl: 60_000 });

  constructor(
    private readonly http: HttpAdapterHost,
    private readonly poller: Poller,
    private readonly clock: Clock,
    logs: RequestLogsService,
    metrics: Metrics,
    logger: Logger,
  ) {
    this.#rows = new RowBuffer<RequestLog>({
      batch: BATCH,
      max: MAX_ROWS,
      insert: (rows) => logs.write(rows),
      onDropped: (rows, error) => {
        metrics.rowsDropped.inc({ table: 'request_logs' }, rows);
        if (error !== null) logger.error({ error, rows }, 'request logs were refused by the database');
      },
    });
  }

  onModuleInit(): void {
    this.http.httpAdapter.setOnResponseHook((request: Request, response: Response) => this.#record(request, response));
  }

  onApplicationBootstrap(): void {
    this.poller.every('request-logs.flush', FLUSH_MS, () => this.#rows.flush());
  }

  /** Writes what waits, after the last request. */
  onApplicationShutdown(): Promise<void> {
    return this.#rows.drain();
  }

  #record(request: Request, response: Response): void {
    const { accountId, mode, apiKeyFingerprint, userId } = request.callerForLog ?? {};
    const route = routeOf(request);
    if (accountId === undefined || route === undefined) return;
    const address = addressOf(request);
    // An open dashboard page polls: its reads would bury the requests of programs.
    if (request.door !== undefined && isRead(request)) return;
    if (response.statusCode === 429 && !this.#isLogged(`${accountId} ${mode ?? ''} ${userId ?? ''}`)) return;
    const durationMs = Math.round(performance.now() - request.receivedAt);
    const createdAt = new Date(this.clock.now().getTime() - durationMs);
    const full = this.#rows.add({
      id: newId(createdAt),
      accountId,
      mode: (mode as Mode | undefined) ?? null,
      requestId: request.id,
      apiKeyFingerprint: apiKeyFingerprint ?? null,
      userId: userId ?? null,
      method: request.method,
      route,
      path: loggedPath(route, request.params),
      status: response.statusCode,
      errorCode: request.errorCode ?? null,
      durationMs,
      // Behind a proxy, the address that the proxy reports.
      ip: isIP(address) === 0 ? null : address,
      createdAt,
    });
    if (full) this.poller.wake('request-logs.flush');
  }

  /** Keeps only some of the requests that are refused as too many: a caller who goes on would bury the rest. */
  #isLogged(caller: string): boolean {
    const count = this.#tooMany.get(caller) ?? 0;
    this.#tooMany.set(caller, count + 1, { noUpdateTTL: true });
    return count < MAX_TOO_MANY;
  }
}
