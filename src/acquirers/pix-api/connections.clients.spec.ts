import { describe, expect, it, jest } from '@jest/globals';
import type { PixApiConnection } from './connection.js';
import { ConnectionClients } from './connections.clients.js';

class Client {
  closed = false;

  constructor(readonly of: string) {}

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }
}

function setup() {
  const state = { now: 0, version: 1, reads: 0, exists: true };
  const load = async (id: string): Promise<PixApiConnection | null> => {
    state.reads++;
    return state.exists ? ({ id, version: state.version } as PixApiConnection) : null;
  };
  const clients = new ConnectionClients<Client>(
    load,
    load,
    ({ id, version }) => new Client(`${id} v${version}`),
    () => state.now,
  );
  return { state, clients };
}

describe('clients of connections', () => {
  it('are made once, and their connection is read again every ten seconds, by one caller', async () => {
    const { state, clients } = setup();
    const first = await Promise.all([clients.of('a'), clients.of('a'), clients.of('b')]);
    expect(first.map((client) => client.of)).toEqual(['a v1', 'a v1', 'b v1']);
    expect([first[0] === first[1], state.reads]).toEqual([true, 2]);
    state.now = 9_999;
    expect(await clients.of('a')).toBe(first[0]);
    expect(state.reads).toBe(2);
    state.now = 10_000;
    expect(await Promise.all([clients.of('a'), clients.of('a')])).toEqual([first[0], first[0]]);
    expect(state.reads).toBe(3);
  });

  it('are replaced when their connection has changed; the old one is closed once its calls have ended', async () => {
    jest.useFakeTimers();
    try {
      const { state, clients } = setup();
      const old = await clients.of('a');
      state.version = 2;
      expect(await clients.of('a')).toBe(old);
      state.now = 10_000;
      const renewed = await clients.of('a');
      expect([renewed.of, old.closed]).toEqual(['a v2', false]);
      jest.advanceTimersByTime(60_000);
      expect([renewed.closed, old.closed]).toEqual([false, true]);
      await clients.close();
      expect(renewed.closed).toBe(true);
    } finally {
      jest.useRealTimers();
    }
  });

  it('send money by the connection as it is now, although it was read a moment ago', async () => {
    const { state, clients } = setup();
    const old = await clients.of('a');
    state.version = 2;
    const renewed = await clients.current('a');
    expect([renewed.of, renewed === old]).toEqual(['a v2', false]);
    expect(await clients.of('a')).toBe(renewed);
    // A reading that is late brings no replaced credentials back.
    state.version = 1;
    expect(await clients.current('a')).toBe(renewed);
  });

  it('do not exist without a connection, and are made once there is one', async () => {
    const { state, clients } = setup();
    state.exists = false;
    await expect(clients.of('a')).rejects.toThrow('There is no acquirer connection a');
    state.exists = true;
    expect((await clients.of('a')).of).toBe('a v1');
  });
});
