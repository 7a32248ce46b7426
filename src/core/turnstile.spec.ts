import { describe, expect, it } from '@jest/globals';
import { Turnstile } from './turnstile.js';

const busy = (): Error => new Error('busy');

describe('a turnstile', () => {
  it('lets two callers in, lets two wait in their order, and refuses the fifth', async () => {
    const turnstile = new Turnstile(2, 2);
    const leave: (() => void)[] = [];
    const entered: number[] = [];
    const visit = (number: number): Promise<void> =>
      turnstile.pass(() => {
        entered.push(number);
        return new Promise((resolve) => leave.push(resolve));
      }, busy);
    const visits = [visit(1), visit(2), visit(3), visit(4)];
    await expect(visit(5)).rejects.toThrow('busy');
    expect(entered).toEqual([1, 2]);
    leave[1]?.();
    await visits[1];
    expect(entered).toEqual([1, 2, 3]);
    leave[0]?.();
    leave[2]?.();
    await Promise.all([visits[0], visits[2]]);
    expect(entered).toEqual([1, 2, 3, 4]);
    leave[3]?.();
    await visits[3];
    await expect(turnstile.pass(async () => 'free again', busy)).resolves.toBe('free again');
  });

  it('gives the place of failed work to the next caller', async () => {
    const turnstile = new Turnstile(1, 1);
    const failing = turnstile.pass(() => Promise.reject(new Error('broken')), busy);
    const next = turnstile.pass(async () => 'done', busy);
    await expect(failing).rejects.toThrow('broken');
    await expect(next).resolves.toBe('done');
  });

  it('lets callers take turns, and takes a waiting place from the caller with the most', async () => {
    const turnstile = new Turnstile(1, 4);
    const entered: string[] = [];
    const refused: string[] = [];
    let open = (): void => undefined;
    const first = turnstile.pass(() => new Promise<void>((resolve) => (open = resolve)), busy, 'flood');
    const visit = (name: string, caller: string): Promise<void> =>
      turnstile.pass(async () => void entered.push(name), busy, caller).catch(() => void refused.push(name));
    const visits = [
      ...['f1', 'f2', 'f3', 'f4', 'f5'].map((name) => visit(name, 'flood')),
      visit('a1', 'ana'),
      visit('r1', 'rui'),
      visit('r2', 'rui'),
    ];
    open();
    await Promise.all([first, ...visits]);
    expect(refused.sort()).toEqual(['f3', 'f4', 'f5', 'r2']);
    expect(entered).toEqual(['f1', 'a1', 'r1', 'f2']);
  });

  it('limits the places of one caller', async () => {
    const turnstile = new Turnstile(2, 10, 1);
    const entered: string[] = [];
    const leave = new Map<string, () => void>();
    const visit = (name: string, caller: string): Promise<void> =>
      turnstile.pass(
        () => {
          entered.push(name);
          return new Promise((resolve) => leave.set(name, resolve));
        },
        busy,
        caller,
      );
    const visits = [visit('f1', 'flood'), visit('f2', 'flood'), visit('a1', 'ana'), visit('r1', 'rui')];
    expect(entered).toEqual(['f1', 'a1']);
    leave.get('a1')?.();
    await visits[2];
    expect(entered).toEqual(['f1', 'a1', 'r1']);
    leave.get('r1')?.();
    leave.get('f1')?.();
    await Promise.all([visits[0], visits[3]]);
    expect(entered).toEqual(['f1', 'a1', 'r1', 'f2']);
    leave.get('f2')?.();
    await visits[1];
  });
});
