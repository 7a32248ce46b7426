import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { CallbackStore } from '../../../src/acquirers/pix-api/callback-store.service.js';
import { PixApiAcquirer } from '../../../src/acquirers/pix-api/pix-api.acquirer.js';
import { PixApiClient } from '../../../src/acquirers/pix-api/pix-api.client.js';
import { ExpiryService } from '../../../src/transactions/index.js';
import { LiveStory } from '../../support/live-story.js';
import { type Answer, type ChargeAnswer, TestService } from '../../support/service.js';
import { waitFor } from '../../support/wait.js';

/**
 * Changes bodies that a bank answers with 200. @param to the body for the queried id; null: the bank does not know it
 */
function change(operation: 'getCob' | 'getPix' | 'listPix', to: (body: object, asked: unknown) => object | null): void {
  const ask = Reflect.get(PixApiClient.prototype, operation) as (
    ...asked: unknown[]
  ) => Promise<{ kind: string; body?: object }>;
  jest.spyOn(PixApiClient.prototype, operation).mockImplementation(async function (
    this: PixApiClient,
    ...asked: unknown[]
  ) {
    const answer = await ask.apply(this, asked);
    if (answer.kind !== 'ok' || !answer.body) return answer as never;
    const body = to(answer.body, asked[0]);
    return (body === null ? { kind: 'not_found' } : { ...answer, body }) as never;
  });
}

/** Compares Pix by their ids and times only. */
function withoutAmounts(body: { pix?: object[] }): object {
  const pix = (body.pix ?? []).map((entry) => ({ ...entry, valor: undefined }));
  return { ...body, pix };
}

describe('the end of a live charge that was not paid, or paid without a callback', () => {
  const service = TestService.forSpec();
  const story = LiveStory.forSpec(service);

  afterEach(() => {
    jest.restoreAllMocks();
    return story.expectSameBooks();
  });

  const charge = (): Promise<ChargeAnswer> => story.charge({ expires_in: 60 });
  const cobOf = ({ pix }: ChargeAnswer) => story.bank.state().cobs.find(({ txid }) => txid === pix.txid);
  const loseCallback = (): void => story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' } });

  async function cancel({ id }: ChargeAnswer): Promise<Answer> {
    const answer = await service.call('POST', `/v1/payments/${id}/cancel`, { key: story.key });
    expect([answer.status, answer.body['status']]).toEqual([200, 'CANCELLED']);
    return answer;
  }

  /** Hides the bank's list until the spec ends, even from a reading under way. */
  async function hideList(): Promise<void> {
    await story.sweepStatement();
    change('listPix', (body) => ({ ...body, pix: [] }));
  }

  /** The bank's answer about the charge is incomplete, and operators see it. */
  const unreadable = ({ pix }: ChargeAnswer): Promise<boolean> =>
    waitFor('operators to see it', async () => {
      const rows = await service.sql(
        `SELECT 1 FROM acquirer_notifications WHERE kind = 'charge' AND reference = $1 AND unreadable_since IS NOT NULL`,
        [pix.txid],
      );
      return rows.length > 0;
    });

  /** The bank has returned the Pix, and our books agree. */
  async function wentBack(endToEndId: string, reason: string): Promise<void> {
    await waitFor(`${endToEndId} to go back`, async () => {
      const rows = await service.sql(
        `SELECT 1 FROM pix_returns WHERE end_to_end_id = $1 AND status = 'RETURNED' AND reason = $2`,
        [endToEndId, reason],
      );
      return rows.length === 1;
    });
    expect(story.returned(endToEndId)).toEqual(['19.90 DEVOLVIDO']);
  }

  it('a charge expires here and at the bank at the same time, after one query before the expiry is written', async () => {
    const made = await charge();
    const asked = story.asked('cob.get');
    service.clock.advance(123);
    // A read shows the expiry at once; the row is written after the question.
    await story.becomes(made, 'expired');
    await waitFor('it to be written', async () => {
      const rows = await service.sql(`SELECT 1 FROM transactions WHERE id = $1 AND status = 'EXPIRED'`, [
        made.id.slice(3),
      ]);
      return rows.length === 1;
    });
    expect(story.asked('cob.get')).toBe(asked + 1);
    expect(() => story.pay(made)).toThrow(/expired/);
  });

  it.each([
    ['ends', false],
    ['removes', true],
  ])('a charge that the bank %s before its time expires here at its time', async (_, removed) => {
    const made = await charge();
    story.bank.expire({ txid: made.pix.txid ?? '', removed });
    const { body } = await service.call('GET', `/v1/payments/${made.id}/provider-status`, { key: story.key });
    expect(body).toMatchObject({
      localStatus: 'WAITING_PAYMENT',
      providerStatus: removed ? 'REMOVIDA_PELO_PSP' : 'ATIVA',
    });
    service.clock.advance(123);
    await story.becomes(made, 'expired');
  });

  it('a payment without a callback is found in the bank`s list', async () => {
    const made = await charge();
    loseCallback();
    story.pay(made);
    await story.sweepStatement();
    await story.becomes(made, 'paid');
  });

  it('a payment is found by a query before the expiry is written, if the list was not read', async () => {
    await hideList();
    const made = await charge();
    loseCallback();
    story.pay(made);
    service.clock.advance(123);
    await story.becomes(made, 'paid');
  });

  it('the expiry is not written while the bank says paid without naming the Pix', async () => {
    const made = await charge();
    loseCallback();
    const { endToEndId } = story.pay(made);
    // The bank sets CONCLUIDA a moment before the charge and the list show the Pix.
    let isListed = false;
    change('getCob', (answer) => (isListed ? answer : { ...answer, pix: [] }));
    change('listPix', (answer) => (isListed ? answer : { ...answer, pix: [] }));
    service.clock.advance(123);
    await unreadable(made);
    service.clock.advance(660);
    isListed = true;
    await story.becomes(made, 'paid');
    const settled = await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
    expect(settled).toEqual([{ outcome: 'credited' }]);
  });

  it('the expiry is not written while the bank names a Pix that it does not return', async () => {
    const made = await charge();
    loseCallback();
    const { endToEndId } = story.pay(made);
    story.bank.addFault({ operation: 'pix.get', fault: { kind: 'error', effect: false }, times: 100_000 });
    service.clock.advance(123);
    await unreadable(made);
    // Longer than the limit for a silent bank; each of these steps asks again.
    for (let minutes = 0; minutes < 12; minutes += 3) {
      const asked = story.asked('cob.get');
      service.clock.advance(180);
      await waitFor('the bank to be asked again', () => story.asked('cob.get') > asked);
    }
    story.bank.clearFaults();
    service.clock.advance(600);
    await story.becomes(made, 'paid');
    const settled = await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
    expect(settled).toEqual([{ outcome: 'credited' }]);
  });

  it('the expiry is not written while the list, which alone names the Pix, is unavailable', async () => {
    const made = await charge();
    loseCallback();
    const { endToEndId } = story.pay(made);
    // The standard lets a PSP leave the Pix out of the charge.
    change('getCob', (body) => ({ ...body, pix: [] }));
    story.bank.addFault({ operation: 'pix.list', fault: { kind: 'error', effect: false }, times: 100_000 });
    service.clock.advance(123);
    await unreadable(made);
    service.clock.advance(660);
    await service.get(ExpiryService).expireDue();
    expect(await service.sql('SELECT status FROM transactions WHERE id = $1', [made.id.slice(3)])).toEqual([
      { status: 'WAITING_PAYMENT' },
    ]);
    story.bank.clearFaults();
    service.clock.advance(600);
    await story.becomes(made, 'paid');
    const settled = await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
    expect(settled).toEqual([{ outcome: 'credited' }]);
  });

  it('the expiry is not written when the bank denies knowing a charge that it created', async () => {
    await hideList();
    const made = await charge();
    loseCallback();
    const { endToEndId } = story.pay(made);
    let isKnown = false;
    change('getCob', (body) => (isKnown ? body : null));
    const asked = story.asked('cob.get');
    service.clock.advance(123);
    await waitFor('the bank to be asked', () => story.asked('cob.get') > asked);
    // The sweep comes every second.
    await new Promise((go) => setTimeout(go, 2_500));
    isKnown = true;
    service.clock.advance(20);
    await story.becomes(made, 'paid');
    const settled = await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
    expect(settled).toEqual([{ outcome: 'credited' }]);
  });

  describe.each(['a callback', 'a callback with the txid in capitals', 'the list'])(
    'a Pix in time that %s has reported while the bank is behind',
    (told) => {
      let isBehind: boolean;
      let made: ChargeAnswer;
      let endToEndId: string;

      beforeEach(async () => {
        await story.sweepStatement();
        await service.sql(`UPDATE acquirer_statements SET next_due_at = 'infinity'`);
        isBehind = true;
        change('getPix', (body) => (isBehind ? null : body));
        if (told === 'a callback with the txid in capitals') {
          const keep = Reflect.get(CallbackStore.prototype, 'keep');
          jest.spyOn(CallbackStore.prototype, 'keep').mockImplementation(function (
            this: CallbackStore,
            acquirer,
            body,
          ) {
            const { txid = '' } = made.pix;
            return keep.call(this, acquirer, Buffer.from(body.toString().replaceAll(txid, txid.toUpperCase())));
          });
        }
        // A complete entry of the list would be credited.
        change('listPix', (body) => (isBehind ? withoutAmounts(body) : body));
        change('getCob', (body) => (isBehind ? { ...body, status: 'ATIVA', pix: [] } : body));
        made = await charge();
        if (told === 'the list') loseCallback();
        // We read the list only up to some seconds before now.
        const at = new Date(service.clock.now().getTime() - 4_000).toISOString();
        ({ endToEndId } = story.pay(made, told === 'the list' ? { at } : {}));
        if (told === 'the list') await service.sql('UPDATE acquirer_statements SET next_due_at = now()');
        await waitFor('the hint, and the question about its Pix', async () => {
          const rows = await service.sql(
            `SELECT 1 FROM acquirer_notifications WHERE kind = 'pix' AND reference = $1 AND attempts > 0`,
            [endToEndId],
          );
          return rows.length > 0;
        });
        await service.sql(`UPDATE acquirer_statements SET next_due_at = 'infinity'`);
        service.clock.advance(123);
        await waitFor('the bank to be asked about the charge', async () => {
          const rows = await service.sql(
            'SELECT 1 FROM transactions WHERE id = $1 AND expiry_first_asked_at IS NOT NULL',
            [made.id.slice(3)],
          );
          return rows.length > 0;
        });
      });
      afterEach(() => service.sql(`UPDATE acquirer_statements SET next_due_at = now()`));

      it('keeps the charge from expiring', async () => {
        // The sweep comes every second.
        await new Promise((go) => setTimeout(go, 2_500));
        isBehind = false;
        service.clock.advance(120);
        await story.becomes(made, 'paid');
        const settled = await service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
        expect(settled).toEqual([{ outcome: 'credited' }]);
      });

      it('delays the expiry for ten minutes; then the charge expires, and a later confirmation goes back', async () => {
        service.clock.advance(600);
        await waitFor('it to be written', async () => {
          const rows = await service.sql(`SELECT 1 FROM transactions WHERE id = $1 AND status = 'EXPIRED'`, [
            made.id.slice(3),
          ]);
          return rows.length === 1;
        });
        isBehind = false;
        service.clock.advance(3_600);
        await wentBack(endToEndId, 'late');
      });
    },
  );

  describe('while the bank`s list is not read', () => {
    const without = (body: object, ...names: string[]): object =>
      Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
    const outcomeOf = (endToEndId: string): Promise<unknown[]> =>
      service.sql('SELECT outcome FROM settlements WHERE end_to_end_id = $1', [endToEndId]);
    const pixHint = (endToEndId: string): Promise<boolean> =>
      waitFor('the hint, and the question about its Pix', async () => {
        const rows = await service.sql(
          `SELECT 1 FROM acquirer_notifications WHERE kind = 'pix' AND reference = $1 AND attempts > 0`,
          [endToEndId],
        );
        return rows.length > 0;
      });

    beforeEach(hideList);

    it.each([
      ['does not expire', 'ATIVA'],
      ['is not refused', 'REMOVIDA_PELO_PSP'],
    ])(
      'a charge %s when a readable answer comes after an unreadable one, while a Pix for it is reported (%s)',
      async (_, status) => {
        let isBehind = true;
        let isUnread = false;
        const made = await charge();
        change('getPix', (body) => (isBehind ? null : body));
        // Questions about other charges may be sent too.
        change('getCob', (body, txid) => {
          if (!isBehind || txid !== made.pix.txid) return body;
          const behind = { ...body, status, pix: [] };
          if (!isUnread) return behind;
          isUnread = false;
          return without(behind, 'valor');
        });
        const { endToEndId } = story.pay(made);
        await pixHint(endToEndId);
        isUnread = true;
        service.clock.advance(123);
        await unreadable(made);
        // The sweep comes every second.
        await new Promise((go) => setTimeout(go, 2_500));
        isBehind = false;
        service.clock.advance(120);
        await story.becomes(made, 'paid');
        expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
      },
    );

    it('a charge does not expire while its Pix cannot be read and the charge does not name it', async () => {
      let isBehind = true;
      change('getPix', (body) => (isBehind ? { ...body, valor: '1,234.5' } : body));
      change('getCob', (body) => (isBehind ? { ...body, status: 'ATIVA', pix: [] } : body));
      const made = await charge();
      const { endToEndId } = story.pay(made);
      await pixHint(endToEndId);
      service.clock.advance(123);
      // The sweep comes every second.
      await new Promise((go) => setTimeout(go, 2_500));
      service.clock.advance(660);
      await new Promise((go) => setTimeout(go, 2_500));
      expect(await service.sql('SELECT status FROM transactions WHERE id = $1', [made.id.slice(3)])).toEqual([
        { status: 'WAITING_PAYMENT' },
      ]);
      isBehind = false;
      service.clock.advance(3_600);
      await story.becomes(made, 'paid');
      expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
    });

    it.each([
      ['named a Pix of it, which cannot be had yet', withoutAmounts],
      ['called it paid, and not by what', (body: object) => ({ ...body, pix: [] })],
    ])('a charge does not expire by an answer that is older than the answer that %s', async (_, shown) => {
      let isBehind = true;
      let isShown = true;
      change('getPix', (body) => (isBehind ? null : body));
      story.bank.addFault({ operation: 'callback', fault: { kind: 'lose' }, times: 100_000 });
      const made = await charge();
      const { endToEndId } = story.pay(made);
      // A first machine of the bank knows the payment, and the next one does not yet. Other charges are answered as
      // usual.
      change('getCob', (body, txid) => {
        if (!isBehind || txid !== made.pix.txid) return body;
        if (!isShown) return { ...body, status: 'ATIVA', pix: [] };
        isShown = false;
        return shown(body);
      });
      /** Waits until the bank has answered this many questions about what it had called paid. */
      const answered = (attempts: number): Promise<boolean> =>
        waitFor(`${attempts} attempts`, async () => {
          const rows = await service.sql(
            `SELECT 1 FROM acquirer_notifications WHERE kind = 'charge' AND reference = $1 AND attempts >= $2`,
            [made.pix.txid, attempts],
          );
          return rows.length > 0;
        });
      service.clock.advance(123);
      // The first contradicting answer counts as the sixth attempt, so the next question comes after 64 s.
      await answered(7);
      service.clock.advance(65);
      await answered(8);
      // The sweep comes every second.
      await new Promise((go) => setTimeout(go, 2_500));
      expect(await service.sql('SELECT status FROM transactions WHERE id = $1', [made.id.slice(3)])).toEqual([
        { status: 'WAITING_PAYMENT' },
      ]);
      isBehind = false;
      story.bank.clearFaults();
      service.clock.advance(3_600);
      await story.becomes(made, 'paid');
      expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
    });

    it('a Pix that the bank shows in its charge, but does not find by id, pays the charge', async () => {
      change('getPix', () => null);
      const made = await charge();
      loseCallback();
      const { endToEndId } = story.pay(made);
      service.clock.advance(123);
      await story.becomes(made, 'paid');
      expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
    });

    it('a Pix settled in time but shown after the expiry pays the charge, whose expiry is not written before', async () => {
      jest.spyOn(PixApiAcquirer.prototype, 'settlementLagMs').mockResolvedValue(3_600_000);
      let shown: string | null = null;
      change('getPix', (body, id) => (id === shown ? body : null));
      let isPaidThere = false;
      change('getCob', (body) => (isPaidThere ? body : { ...body, status: 'ATIVA', pix: [] }));
      const made = await charge();
      const status = (): Promise<unknown[]> =>
        service.sql('SELECT status FROM transactions WHERE id = $1', [made.id.slice(3)]);
      loseCallback();
      const { endToEndId } = story.pay(made);
      service.clock.advance(300);
      await story.becomes(made, 'expired');
      // A Pix that comes too late does not end the charge.
      const late = story.pay(made, { force: true });
      shown = late.endToEndId;
      await wentBack(late.endToEndId, 'late');
      // The sweeps come every second.
      await new Promise((go) => setTimeout(go, 2_500));
      expect(await status()).toEqual([{ status: 'WAITING_PAYMENT' }]);
      shown = endToEndId;
      isPaidThere = true;
      service.clock.advance(3_600);
      await story.becomes(made, 'paid');
      expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
    });

    it('a reported Pix that the bank has meanwhile is fetched before its charge expires', async () => {
      let isBehind = true;
      change('getPix', (body) => (isBehind ? null : body));
      // The bank's answer about the charge itself stays outdated.
      change('getCob', (body) => ({ ...body, status: 'ATIVA', pix: [] }));
      const made = await charge();
      const { endToEndId } = story.pay(made);
      await pixHint(endToEndId);
      // Simulates a long series of such answers: the next question is an hour away.
      await new Promise((go) => setTimeout(go, 1_000));
      await service.sql(
        `UPDATE acquirer_notifications SET attempts = 13, next_attempt_at = $2 WHERE kind = 'pix' AND reference = $1`,
        [endToEndId, new Date(service.clock.now().getTime() + 3_600_000)],
      );
      isBehind = false;
      const asked = story.asked('cob.get');
      service.clock.advance(123);
      await waitFor('the first question', () => story.asked('cob.get') > asked);
      for (let seconds = 0; seconds < 660; seconds += 120) {
        service.clock.advance(120);
        await new Promise((go) => setTimeout(go, 2_500));
      }
      service.clock.advance(3_600);
      await waitFor('the Pix', async () => (await outcomeOf(endToEndId)).length > 0);
      expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
    });

    it('a charge that the bank shows without its code is paid by the Pix that it names', async () => {
      const made = await charge();
      loseCallback();
      const { endToEndId } = story.pay(made);
      change('getCob', (body) => ({ ...without(body, 'pixCopiaECola', 'location', 'loc'), status: 'ATIVA' }));
      service.clock.advance(123);
      await story.becomes(made, 'paid');
      expect(await outcomeOf(endToEndId)).toEqual([{ outcome: 'credited' }]);
    });

    it('a charge that the bank shows without its code and without a Pix expires with that answer', async () => {
      const made = await charge();
      change('getCob', (body) => without(body, 'pixCopiaECola', 'location', 'loc'));
      service.clock.advance(123);
      await waitFor('it to be written', async () => {
        const rows = await service.sql(`SELECT 1 FROM transactions WHERE id = $1 AND status = 'EXPIRED'`, [
          made.id.slice(3),
        ]);
        return rows.length === 1;
      });
    });
  });

  it('money that the bank receives after the charge expired here goes back', async () => {
    const made = await charge();
    service.clock.advance(123);
    await story.becomes(made, 'expired');
    const { endToEndId } = story.pay(made, { force: true });
    await wentBack(endToEndId, 'late');
    await story.becomes(made, 'expired');
  });

  it('a cancelled charge is removed at the bank, and nobody can pay it', async () => {
    const made = await charge();
    await cancel(made);
    await waitFor('the bank', () => cobOf(made)?.status === 'REMOVIDA_PELO_USUARIO_RECEBEDOR');
    expect(() => story.pay(made)).toThrow(/REMOVIDA/);
    await story.becomes(made, 'cancelled');
  });

  it.each([
    ['fails', { kind: 'error', effect: false }],
    ['is answered by silence though it was heard', { kind: 'timeout', effect: true }],
    ['is turned away', { kind: 'throttle', retryAfterSeconds: 3600 }],
  ] as const)('a cancellation that %s is repeated until its outcome is known', async (_, fault) => {
    const made = await charge();
    story.bank.addFault({ operation: 'cob.patch', fault });
    const asked = story.asked('cob.patch');
    await cancel(made);
    await waitFor('the first attempt', () => story.asked('cob.patch') > asked);
    service.clock.advance(10);
    await waitFor('the bank to know, and we', async () => {
      const rows = await service.sql(`SELECT 1 FROM work WHERE kind = 'acquirer'`);
      service.clock.advance(1);
      return rows.length === 0 && cobOf(made)?.status === 'REMOVIDA_PELO_USUARIO_RECEBEDOR';
    });
    expect(story.asked('cob.patch')).toBeGreaterThan(asked + 1);
  });

  it('a payer who pays unreported before the cancellation gets the money back', async () => {
    const made = await charge();
    loseCallback();
    const { endToEndId } = story.pay(made);
    await cancel(made);
    await story.sweepStatement();
    await wentBack(endToEndId, 'charge_closed');
    expect(cobOf(made)?.status).toBe('CONCLUIDA');
    await story.becomes(made, 'cancelled');
  });

  it('exactly one of a simultaneous payment and cancellation wins, and no money is left over', async () => {
    const before = await story.balance();
    const made = await Promise.all(Array.from({ length: 8 }, charge));
    const ends = await Promise.all(
      made.map(async (each) => {
        const { endToEndId } = story.pay(each);
        const { status } = await service.call('POST', `/v1/payments/${each.id}/cancel`, { key: story.key });
        return { each, endToEndId, cancelled: status === 200 };
      }),
    );
    for (const { each, endToEndId, cancelled } of ends) {
      await story.becomes(each, cancelled ? 'cancelled' : 'paid');
      if (cancelled) await wentBack(endToEndId, 'charge_closed');
    }
    const paid = ends.filter(({ cancelled }) => !cancelled).length;
    expect((await story.balance()).available).toBe(before.available + paid * 1990);
  });
});
