import { describe, expect, it } from '@jest/globals';
import { cobAnswer, pixAnswer, returnAnswer } from './messages.js';
import { aCob, aPix, aReturn } from './psp.fixture.js';
import { chargeEnd, disputeOf, payableFrom, receivedPix } from './translation.js';
import { byMinute, readTime } from './written-time.js';

/** An id made at 20:23 UTC, like every time in the table. */
const E2E = 'E12345678202611272023aBcDeFgHiJk';
const MINUTE = new Date('2026-11-27T20:23:00Z');

/** The forms of a time that PSPs write, and the instant that each means. */
const FORMS: readonly (readonly [what: string, text: string, instant: string])[] = [
  ['UTC with milliseconds', '2026-11-27T20:23:10.075Z', '2026-11-27T20:23:10.075Z'],
  ['UTC in seconds', '2026-11-27T20:23:10Z', '2026-11-27T20:23:10.000Z'],
  ['no seconds', '2026-11-27T20:23Z', '2026-11-27T20:23:00.000Z'],
  ['microseconds', '2026-11-27T20:23:10.075999Z', '2026-11-27T20:23:10.075Z'],
  ['nanoseconds', '2026-11-27T20:23:10.075123456Z', '2026-11-27T20:23:10.075Z'],
  ['one decimal', '2026-11-27T20:23:10.5Z', '2026-11-27T20:23:10.500Z'],
  ['decimals behind a comma', '2026-11-27T20:23:10,075Z', '2026-11-27T20:23:10.075Z'],
  ['small letters', '2026-11-27t20:23:10.075z', '2026-11-27T20:23:10.075Z'],
  ['an offset of zero', '2026-11-27T20:23:10.075+00:00', '2026-11-27T20:23:10.075Z'],
  ['the offset of São Paulo', '2026-11-27T17:23:10.075-03:00', '2026-11-27T20:23:10.075Z'],
  ['an offset without a colon', '2026-11-27T17:23:10.075-0300', '2026-11-27T20:23:10.075Z'],
  ['an offset in hours', '2026-11-27T17:23:10.075-03', '2026-11-27T20:23:10.075Z'],
  ['an offset and the name of a zone', '2026-11-27T17:23:10.075-03:00[America/Sao_Paulo]', '2026-11-27T20:23:10.075Z'],
  ['no zone, in São Paulo', '2026-11-27T17:23:10.075', '2026-11-27T20:23:10.075Z'],
  ['no zone, in UTC', '2026-11-27T20:23:10.075', '2026-11-27T20:23:10.075Z'],
  ['the time of São Paulo marked as UTC', '2026-11-27T17:23:10.075Z', '2026-11-27T20:23:10.075Z'],
  ['a blank in place of the T', '2026-11-27 17:23:10', '2026-11-27T20:23:10.000Z'],
  ['the day first', '27/11/2026 17:23:10', '2026-11-27T20:23:10.000Z'],
];

const UNREADABLE = [
  ...['2026-11-27', '1795811390075', 'yesterday', '11/27/2026 17:23:10', '27-11-2026 17:23:10', '20261127T202310Z'],
  ...['2026-02-30T10:00:00Z', '2026-11-27T25:00:00Z', '2026-11-27T20:61:00Z', '2026-11-27T20:23:10+99:00', ''],
  ...['2026-11-27T20:23:10.0751234567Z', '2026-11-27T20:23:10 BRT', '26-11-27T20:23:10Z', 'x'.repeat(10_000)],
];

describe('a written time', () => {
  it('is tested in all eighteen forms', () => expect(FORMS).toHaveLength(18));

  describe.each(FORMS)('with %s: %s', (_, text, instant) => {
    it('is read in a Pix, by the minute of its end-to-end id', () => {
      const pix = pixAnswer.parse(aPix({ endToEndId: E2E, horario: text }));
      expect(receivedPix(pix, [])?.settledAt.toISOString()).toBe(instant);
    });

    it('is read in a charge, which is open during its time for paying and over after it', () => {
      const cob = cobAnswer.parse(aCob({ calendario: { criacao: text, expiracao: 900 } }));
      const at = (time: string) => chargeEnd(cob, new Date(`2026-11-27T${time}Z`))?.end ?? null;
      expect([at('20:23:10'), at('20:37:59'), at('20:39:00')]).toEqual([null, null, 'expired']);
      expect(payableFrom(cob, MINUTE) <= new Date(instant)).toBe(true);
    });

    it('is read in a return of the bank', () => {
      const pix = pixAnswer.parse(aPix({ endToEndId: E2E, horario: '2026-11-27T20:21:00Z' }));
      const horario = { solicitacao: text, liquidacao: text };
      const answer = returnAnswer.parse(aReturn({ natureza: 'MED_FRAUDE', status: 'DEVOLVIDO', horario }));
      const { openedAt, closedAt } = disputeOf(pix, answer) ?? {};
      // A return may come hours after its Pix, so a time without a zone is always read as São Paulo's.
      const isSaoPaulo = text === '2026-11-27T20:23:10.075';
      const expected = isSaoPaulo ? '2026-11-27T23:23:10.075Z' : instant;
      expect(openedAt?.toISOString()).toBe(expected);
      expect(closedAt?.getTime()).toBe(new Date(expected).getTime() + 1);
    });
  });

  it.each(UNREADABLE)('is not read from %j', (text) => {
    expect(readTime(text)).toBeNull();
    // If the time is unreadable, the Pix was settled in the minute of its id.
    const pix = pixAnswer.parse(aPix({ endToEndId: E2E, horario: text }));
    expect(receivedPix(pix, [])?.settledAt).toEqual(MINUTE);
    expect(cobAnswer.parse(aCob({ calendario: { criacao: text, expiracao: 1 } })).calendario?.criacao).toBeNull();
    expect(returnAnswer.parse(aReturn({ horario: { solicitacao: text } })).horario?.solicitacao).toBeNull();
  });

  it('is used as written for a Pix that was held up for hours, and never moved before its id was made', () => {
    const at = (text: string) => byMinute(readTime(text)!, MINUTE).toISOString();
    expect(at('2026-11-27T23:23:10Z')).toBe('2026-11-27T23:23:10.000Z');
    expect(at('2026-11-27T20:24:00-03:00')).toBe('2026-11-27T23:24:00.000Z');
    expect(at('2026-11-27T20:20:00Z')).toBe('2026-11-27T20:20:00.000Z');
    // If the clock is off by days, the PSP's time is used as it is.
    expect(at('2026-11-01T20:20:00Z')).toBe('2026-11-01T20:20:00.000Z');
  });

  it('is read with the offset of summer time in São Paulo', () => {
    expect(readTime('2018-12-24T20:00:00')?.[0].toISOString()).toBe('2018-12-24T22:00:00.000Z');
  });
});
