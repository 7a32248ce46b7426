import { describe, expect, it } from '@jest/globals';
import { LedgerChecks } from './ledger-checks.service.js';

type Needs = ConstructorParameters<typeof LedgerChecks>;

describe('a gauge that must be zero', () => {
  it.each([
    ['recebe_ledger_incoherent_balances', 'wallets.coherence', 3],
    ['recebe_releases_overdue', 'wallets.overdue', 3],
  ])('%s is unknown before its first check, during it and after a failed one', async (name, task, counted) => {
    const gauges = new Map<string, () => unknown>();
    const tasks = new Map<string, () => Promise<unknown>>();
    let isAway = false;
    const count = async <T>(found: T): Promise<T> => {
      await Promise.resolve();
      if (isAway) throw new Error('the database is away');
      return found;
    };
    const balances = { check: () => count(false), incoherent: () => count(3) };
    const releases = { overdue: () => count(3) };
    const metrics = { gauge: (gauge: string, _help: string, read: () => unknown) => gauges.set(gauge, read) };
    const every = (what: string, _ms: number, work: () => Promise<unknown>): boolean => tasks.set(what, work).has(what);
    const poller = { every, onWorkers: every };
    const needs = [balances, releases, metrics, poller] as unknown as Needs;
    new LedgerChecks(...needs).onApplicationBootstrap();
    const shown = (): unknown => gauges.get(name)?.();
    const check = (): Promise<unknown> => tasks.get(task)?.() ?? Promise.reject(new Error('nothing checks it'));

    expect(shown()).toBeNaN();
    const running = check();
    expect(shown()).toBeNaN();
    await running;
    expect(shown()).toBe(counted);
    isAway = true;
    await expect(check()).rejects.toThrow('the database is away');
    expect(shown()).toBeNaN();
    isAway = false;
    await check();
    expect(shown()).toBe(counted);
  });
});
