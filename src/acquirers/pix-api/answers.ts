import type * as z from 'zod';
import type { Logger } from '../../core/log/index.js';
import type { Metrics } from '../../core/metrics/index.js';
import { unreadFields } from './messages.js';
import type { PspAnswer } from './pix-api.client.js';
import { PixApiError } from './pix-api.errors.js';
import type { Problem } from './problem.js';
import type { DeskOperation, Operation } from './profile.js';

/** Why an answer is not trusted; a label of the metric. */
type Oddity =
  'malformed' | 'other_txid' | 'other_key' | 'other_amount' | 'other_id' | 'no_key' | 'no_br_code' | 'field';

/** Reads a PSP's answers. Each one that is not trusted leaves a metric and a line in the log, which names no people. */
export class Answers {
  constructor(
    private readonly acquirer: string,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  /** @returns null for a body that the schema does not accept */
  read<T>(operation: Operation | DeskOperation, schema: z.ZodType<T>, body: unknown, about: object): T | null {
    const read = schema.safeParse(body);
    if (read.success) {
      const paths = unreadFields(body, read.data).slice(0, 5);
      if (paths.length > 0) this.odd(operation, 'field', { ...about, paths });
      return read.data;
    }
    // The paths of the faults, but not their values.
    const paths = read.error.issues.slice(0, 5).map(({ path }) => path.join('.'));
    this.odd(operation, 'malformed', { ...about, paths });
    return null;
  }

  /** @throws PixApiError for a refused query, which has no answer */
  body(operation: Operation | DeskOperation, answer: PspAnswer): unknown {
    if (answer.kind === 'ok') return answer.body;
    const code = answer.kind === 'refused' ? this.refusal(operation, answer, {}).code : 'http_404';
    throw new PixApiError('unknown', code, operation);
  }

  /** Logs a refusal. */
  refusal(
    operation: Operation | DeskOperation,
    { status, problem }: { readonly status: number; readonly problem: Problem },
    about: object,
  ): Pick<Problem, 'code' | 'properties'> {
    const { code, properties } = problem;
    this.logger.warn({ acquirer: this.acquirer, operation, status, code, properties, ...about }, 'the PSP refused');
    return { code, properties };
  }

  odd(operation: Operation | DeskOperation, what: Oddity, about: object): void {
    this.metrics.acquirerOddAnswers.inc({ operation, what });
    const message =
      what === 'field' ? 'a field of the PSP’s answer is not read' : 'an answer of the PSP is not believed';
    this.logger.warn({ acquirer: this.acquirer, operation, what, ...about }, message);
  }
}
