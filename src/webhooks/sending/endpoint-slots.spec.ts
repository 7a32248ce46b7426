import { beforeEach, describe, expect, it } from '@jest/globals';
import { EndpointSlots, type Sending, type Receiver } from './endpoint-slots.js';

/** Each endpoint has an account of its own by default. */
const to = (endpointId: string, accountId = `account of ${endpointId}`): Receiver => ({ endpointId, accountId });

describe('EndpointSlots', () => {
  let now: number;
  let lanes: EndpointSlots<string>;

  beforeEach(() => {
    now = 1_000_000;
    lanes = new EndpointSlots(64, () => now);
  });

  /**
   * Claims for every waiting endpoint and admits all allotted deliveries.
   * @param endless whether the endpoints have more deliveries due, and wait again
   * @returns the number for each endpoint
   */
  function round(endless = true): Map<string, number> {
    const asks = lanes.allot();
    for (const ask of asks) {
      for (let n = 0; n < ask.allowance; n++) begin(ask.endpointId);
      if (endless) lanes.taken(ask, ask.allowance);
    }
    return new Map(asks.map(({ endpointId, allowance }) => [endpointId, allowance]));
  }

  const underWay = new Map<string, Sending<string>[]>();
  beforeEach(() => underWay.clear());

  function begin(id: string): Sending<string> | null {
    const sending = lanes.admit(to(id), id);
    if (sending) underWay.set(id, [...(underWay.get(id) ?? []), sending]);
    return sending;
  }

  /** Answers all deliveries under way of the endpoint after 200 ms (quickly, but not at once), and stores them. */
  function end(id: string, succeeded = true): void {
    now += 200;
    for (const sending of underWay.get(id) ?? []) {
      lanes.answered(sending, succeeded);
      lanes.leave();
    }
    underWay.delete(id);
  }

  /** Takes a single delivery from its claim until it is stored. */
  function deliver(receiver: Receiver, succeeded = true): void {
    const sending = lanes.admit(receiver, 'delivery');
    if (!sending) throw new Error('there is no room');
    lanes.answered(sending, succeeded);
    lanes.leave();
  }

  /** Answers quickly until the endpoint may have eight at once. */
  function prove(id: string): void {
    for (let n = 0; n < 2; n++) {
      lanes.offer(to(id));
      round(false);
      end(id);
    }
  }

  /** Answers after two seconds until the endpoint might have eight at once. */
  function answerSlowly(receiver: Receiver): void {
    for (let n = 0; n < 2; n++) {
      lanes.offer(receiver);
      round(false);
      now += 2_000;
      end(receiver.endpointId);
    }
  }

  it('gives an endpoint two places, doubles them after each round of successes up to a quarter, and resets at a failure', () => {
    lanes.offer(to('a'));
    for (const allowance of [2, 4, 8, 16, 16]) {
      expect(round()).toEqual(new Map([['a', allowance]]));
      end('a');
    }
    round();
    end('a', false);
    expect(round()).toEqual(new Map([['a', 2]]));
    end('a');
    expect(round()).toEqual(new Map([['a', 4]]));
  });

  it('leaves a place for a newer delivery beside a first one that hangs', () => {
    lanes.offer(to('a'));
    round(false);
    const [hangs, other] = underWay.get('a') ?? [];
    if (other) lanes.answered(other, false);
    now += 14_000;
    lanes.offer(to('a'));
    expect([hangs?.delivery, round().get('a')]).toEqual(['a', 1]);
  });

  it('claims only for waiting endpoints, and for none of them twice before an answer', () => {
    expect(lanes.allot()).toEqual([]);
    prove('a');
    lanes.offer(to('a'));
    lanes.offer(to('a'));
    const [ask] = lanes.allot();
    expect(ask).toEqual({ endpointId: 'a', allowance: 8 });
    expect(lanes.allot()).toEqual([]);
    lanes.taken({ endpointId: 'a', allowance: 8 }, 7);
    expect(lanes.allot()).toEqual([]);
    lanes.offer(to('a'));
    expect(lanes.allot()).toHaveLength(1);
  });

  it('remembers an offer that comes while the claim is under way', () => {
    lanes.offer(to('a'));
    const [ask] = lanes.allot();
    lanes.offer(to('a'));
    lanes.taken(ask ?? { endpointId: '', allowance: 0 }, 0);
    expect(lanes.allot()).toHaveLength(1);
  });

  it('continues while outcomes are stored, and holds at most twice as many deliveries as there are places', () => {
    lanes = new EndpointSlots(4, () => now);
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) lanes.offer(to(id));
    const answered = new Set<Sending<string>>();
    while (round().size > 0) {
      const open = [...underWay.values()].flat().filter((sending) => !answered.has(sending));
      expect(open.length).toBeLessThanOrEqual(4);
      for (const sending of open) lanes.answered(sending, true);
      for (const sending of open) answered.add(sending);
    }
    // All deliveries that began are answered, and no record is stored yet.
    expect(lanes.held).toBe(8);
    lanes.leave();
    expect([...round().values()]).toEqual([1]);
  });

  it.each([1, 2, 3, 7])('with %i places every endpoint gets a turn', (places) => {
    lanes = new EndpointSlots(places, () => now);
    const ids = Array.from({ length: 10 }, (_, n) => `e${n}`);
    for (const id of ids) lanes.offer(to(id));
    const served = new Set<string>();
    for (let n = 0; n < 40; n++) {
      for (const id of round().keys()) served.add(id);
      expect(lanes.held).toBeLessThanOrEqual(places);
      for (const id of [...underWay.keys()]) end(id);
    }
    expect([...served].sort()).toEqual(ids.sort());
  });

  it('leaves half of the places to endpoints that answer, whatever the unproven ones hold', () => {
    for (let n = 0; n < 100; n++) lanes.offer(to(`dead${n}`));
    round();
    round();
    expect(lanes.held).toBe(32);
    // These endpoints answered before, as in a process that has run for a while.
    for (const id of ['good1', 'good2', 'good3', 'good4']) {
      deliver(to(id));
      lanes.offer(to(id));
    }
    const asked = round();
    expect([...asked.keys()].sort()).toEqual(['good1', 'good2', 'good3', 'good4']);
    // Each has three under way. All together have 32 ready, half as many as there are places.
    expect(lanes.held).toBe(32 + 4 * 3 + 32);
  });

  it('gives failing endpoints a quarter of the places, one each, so that a new endpoint does not wait', () => {
    for (let n = 0; n < 100; n++) {
      deliver(to(`dead${n}`), false);
      lanes.offer(to(`dead${n}`));
    }
    expect([...round().values()]).toEqual(Array.from({ length: 16 }, () => 1));
    lanes.offer(to('new'));
    expect(round()).toEqual(new Map([['new', 2]]));
  });

  it('uses the state in the database for an endpoint without own attempts, and own attempts for the others', () => {
    lanes.offer(to('a'), true);
    expect(round()).toEqual(new Map([['a', 2]]));
    prove('b');
    lanes.offer(to('b'), true);
    expect(round().get('b')).toBe(8);
  });

  it('an endpoint that hangs loses its place among those that answer, and takes no place from others', () => {
    const hot = ['a', 'b', 'c', 'd'];
    for (const id of [...hot, 'e']) prove(id);
    for (const id of hot) lanes.offer(to(id));
    round();
    expect(lanes.held).toBe(32); // the whole half for endpoints that answer
    lanes.offer(to('e'));
    expect(round().get('e')).toBeUndefined();
    now += 1_001;
    expect(round().get('e')).toBe(8);
  });

  it('slow endpoints share a quarter with failing ones, and each is quick again with one quick answer', () => {
    prove('good');
    const slow = Array.from({ length: 8 }, (_, n) => `slow${n}`);
    for (const id of slow) {
      answerSlowly(to(id));
    }
    for (const id of slow) lanes.offer(to(id));
    round();
    // Eight endpoints share 16 places equally, although each account alone may use four.
    expect([...underWay.values()].map((passages) => passages.length)).toEqual(slow.map(() => 2));
    lanes.offer(to('good'));
    expect(round().get('good')).toBe(8);
    end('slow0');
    expect(round().get('slow0')).toBe(10); // its limit of eight, and two more successes
  });

  it('slow, dead and unproven endpoints of one account leave other accounts their room', () => {
    for (let n = 0; n < 100; n++) answerSlowly(to(`slow${n}`, 'greedy'));
    for (let n = 0; n < 100; n++) lanes.offer(to(`slow${n}`, 'greedy'));
    round();
    expect(lanes.held).toBe(4);
    for (let n = 0; n < 100; n++) lanes.offer(to(`unproven${n}`, 'greedy'));
    round();
    expect(lanes.held).toBe(8);
    now += 2_000; // none of them answers
    expect(round().size).toBe(0);
    for (let n = 0; n < 24; n++) lanes.offer(to(`new${n}`));
    expect(round().size).toBe(24);
  });

  it('serves the endpoint with the fewest deliveries under way first, and then the one that waits longest', () => {
    lanes = new EndpointSlots(12, () => now); // six of them for endpoints that answer
    const ids = ['a', 'b', 'c', 'd'];
    for (const id of ids) prove(id);
    begin('a');
    for (const id of ids) lanes.offer(to(id));
    expect(round()).toEqual(
      new Map([
        ['b', 2],
        ['c', 1],
        ['d', 1],
        ['a', 1],
      ]),
    );
    for (const id of ids) end(id);
    expect([...round()]).toEqual([
      ['b', 2],
      ['c', 2],
      ['d', 1],
      ['a', 1],
    ]);
  });

  it('reports that another claim is worthwhile: the lane is half empty and more may be due', () => {
    prove('a');
    lanes.offer(to('a'));
    round();
    const passages = underWay.get('a') ?? [];
    expect(passages).toHaveLength(8);
    now += 200;
    const worth = passages.map((sending) => lanes.answered(sending, true));
    // Each success also makes the lane wider by one.
    expect(worth).toEqual([false, false, true, true, true, true, true, true]);
    lanes.allot();
    const another = begin('a');
    expect(another && lanes.answered(another, true)).toBe(false);
  });

  describe('an endpoint that answers at once', () => {
    /** The endpoint may have three at once, and nine ready. */
    beforeEach(() => {
      deliver(to('a'));
      lanes.offer(to('a'));
    });

    it('may claim three times its places, and the extra deliveries begin as the others are answered', () => {
      expect(lanes.allot()).toEqual([{ endpointId: 'a', allowance: 12 }]);
      const [first, second, third, ...ready] = ['1', '2', '3', '4', '5'].map((id) => lanes.admit(to('a'), id));
      expect([first, second, third].map((sending) => sending?.delivery)).toEqual(['1', '2', '3']);
      expect(ready).toEqual([null, null]);
      expect(lanes.held).toBe(5);
      expect(first && lanes.next(first.lane)).toBeNull();
      if (first) lanes.answered(first, true);
      const begun = [first && lanes.next(first.lane), first && lanes.next(first.lane)];
      // The success allows one more delivery at a time.
      expect(begun.map((sending) => sending?.delivery)).toEqual(['4', '5']);
      expect(first && lanes.next(first.lane)).toBeNull();
      expect(lanes.takeBack(true)).toEqual([]);
    });

    it('claims more deliveries when half of the ready ones are left', () => {
      const passages = Array.from({ length: 10 }, () => lanes.admit(to('a'), 'delivery')).filter(
        (each) => each !== null,
      );
      expect(passages).toHaveLength(3);
      // After the first answer nine are left of a window of sixteen, after the second eight of twenty.
      expect(passages.map((sending) => lanes.answered(sending, true))).toEqual([false, true, true]);
    });

    it('keeps no deliveries ready after a failure', () => {
      const [first] = ['1', '2', '3', '4', '5'].map((id) => lanes.admit(to('a'), id));
      if (first) lanes.answered(first, false);
      expect(lanes.takeBack()).toEqual(['4', '5']);
      expect(lanes.held).toBe(3);
      expect(first && lanes.next(first.lane)).toBeNull();
      expect(lanes.takeBack()).toEqual([]);
    });

    it('keeps no deliveries ready when its answers take longer, since another worker may have room', () => {
      const [first] = ['1', '2', '3', '4', '5'].map((id) => lanes.admit(to('a'), id));
      now += 60;
      if (first) lanes.answered(first, true);
      expect(first && lanes.isPrompt(first.lane)).toBe(false);
      expect(lanes.takeBack()).toEqual(['4', '5']);
      lanes.offer(to('a'));
      // The lane may have four under way and has two.
      expect(lanes.allot()).toEqual([{ endpointId: 'a', allowance: 2 }]);
    });

    it('keeps no deliveries ready when no answer comes, while other endpoints keep theirs', () => {
      for (const id of ['1', '2', '3', '4']) lanes.admit(to('a'), id);
      now += 60;
      deliver(to('b'));
      for (const id of ['5', '6', '7', '8']) lanes.admit(to('b'), id);
      expect(lanes.takeBack()).toEqual(['4']);
      expect(lanes.takeBack()).toEqual([]);
      expect(lanes.takeBack(true)).toEqual(['8']);
      expect(lanes.held).toBe(6);
    });

    it('has at most half as many deliveries ready as there are places, and takes no place from others', () => {
      for (let n = 0; n < 100; n++) deliver(to('a'));
      lanes.offer(to('a'));
      expect(lanes.allot()).toEqual([{ endpointId: 'a', allowance: 16 + 32 }]);
      for (let n = 0; n < 48; n++) lanes.admit(to('a'), 'delivery');
      for (let n = 0; n < 40; n++) lanes.offer(to(`unproven${n}`));
      expect(lanes.allot()).toHaveLength(32);
    });

    it('keeps no deliveries ready while answering endpoints use all of their places', () => {
      for (const id of ['a', 'b']) {
        for (let n = 0; n < 100; n++) deliver(to(id));
        lanes.offer(to(id));
      }
      expect(lanes.allot().map(({ allowance }) => allowance)).toEqual([16, 16]);
    });
  });

  it.each([0, 7, 30])(
    'prompt endpoints keep to their half, with claims of %i answers, and a new one gets its turn',
    (lag) => {
      const hot = ['a', 'b', 'c', 'd', 'e', 'f'];
      const open: Sending<string>[] = [];
      const served = new Set<string>();
      for (const id of hot) {
        deliver(to(id));
        lanes.offer(to(id));
      }
      let most = 0;
      let asks = lanes.allot();
      for (let n = 0; n < 4_000; n++) {
        // The endpoint `known` was served before, `unknown` is new.
        if (n === 2_000) {
          deliver(to('known'));
          lanes.offer(to('known'));
          lanes.offer(to('unknown'));
        }
        if (n % (lag + 1) === 0) {
          for (const ask of asks) {
            for (let count = 0; count < ask.allowance; count++) {
              const sending = lanes.admit(to(ask.endpointId), 'delivery');
              if (sending) open.push(sending);
            }
            served.add(ask.endpointId);
            lanes.taken(ask, ask.allowance);
          }
          asks = lanes.allot();
        }
        most = Math.max(most, open.length);
        now += 1;
        const [sending] = open.splice(0, 1);
        if (!sending) continue;
        lanes.answered(sending, true);
        lanes.leave();
        for (let next = lanes.next(sending.lane); next; next = lanes.next(sending.lane)) open.push(next);
      }
      // Half of the places, two of the unknown endpoint, and one for each endpoint that would otherwise have none.
      expect(most).toBeLessThanOrEqual(36);
      expect(most).toBeGreaterThan(20);
      expect([...served].sort()).toEqual([...hot, 'known', 'unknown']);
    },
  );

  it('forgets only endpoints that were idle for ten minutes', () => {
    prove('idle');
    prove('used');
    now += 9 * 60_000;
    lanes.offer(to('used'));
    lanes.allot();
    now += 61_000;
    lanes.prune();
    lanes.offer(to('idle'));
    lanes.offer(to('used'));
    expect(round()).toEqual(
      new Map([
        ['used', 8],
        ['idle', 2],
      ]),
    );
  });
});
