import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';

function logged(work: (logger: ReturnType<typeof createLogger>) => void, level = 'debug'): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLogger(level, { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a log line', () => {
  it('is JSON with its level by name and its time in UTC, and nothing of the machine', () => {
    const [line] = logged((logger) => logger.info({ requestId: 'req_1', status: 200 }, 'request'));
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestId: 'req_1',
      status: 200,
      msg: 'request',
    });
  });

  it('never shows a secret field, at the top or one level down', () => {
    const secret = 'hunter2';
    const names = ['apikey', 'apiKey', 'authorization', 'password', 'secret', 'token', 'document', 'customerDocument'];
    const fields = Object.fromEntries(names.map((name) => [name, secret]));
    const lines = logged((logger) => logger.warn({ ...fields, headers: fields }, 'x'));
    expect(JSON.stringify(lines)).not.toContain(secret);
    expect(Object.keys(lines[0] ?? {})).toEqual(expect.arrayContaining(names));
  });

  it('shows the kind, text, code, place and cause of an error, and no other property', () => {
    const cause = new Error('why');
    const error = Object.assign(new TypeError('broken', { cause }), {
      code: '23505',
      detail: 'Key (document)=(52998224725)',
    });
    const [line] = logged((logger) => logger.error({ error }, 'failed'));
    expect(line?.['error']).toEqual({
      type: 'TypeError',
      message: 'broken',
      code: '23505',
      stack: expect.stringContaining('logger.spec'),
      cause: { type: 'Error', message: 'why', stack: expect.any(String) },
    });
    expect(JSON.stringify(line)).not.toContain('52998224725');
  });

  it('is written for a thrown value that is no Error', () => {
    expect(logged((logger) => logger.error({ error: 'text' }, 'failed'))[0]?.['error']).toEqual({ message: 'text' });
  });

  it('is not written below the level', () => {
    expect(logged((logger) => logger.info({}, 'x'), 'warn')).toEqual([]);
    expect(logged((logger) => logger.error({}, 'x'), 'silent')).toEqual([]);
  });
});
