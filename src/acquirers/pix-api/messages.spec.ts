import { describe, expect, it } from '@jest/globals';
import type * as z from 'zod';
import { cobAnswer, pixAnswer, returnAnswer, tokenAnswer, unreadFields } from './messages.js';
import { aCob, aPix, aReturn } from './psp.fixture.js';
import { returnState } from './translation.js';

const ABSENT = [undefined, null, '', '   '];
const WRONG = [7, 7.5, true, [], [7], {}, { x: 1 }, 'x'.repeat(10_000)];

interface Message {
  readonly schema: z.ZodType;
  readonly make: (own: Record<string, unknown>) => Record<string, unknown>;
  readonly needed: readonly string[];
  /** Values of another type that still have a meaning. */
  readonly optional: Readonly<Record<string, readonly unknown[]>>;
}

const MESSAGES: Readonly<Record<string, Message>> = {
  'GET /pix/{e2eid}': {
    schema: pixAnswer,
    make: aPix,
    needed: ['endToEndId', 'valor'],
    optional: {
      horario: [],
      pagador: [{}, { x: 1 }],
      devolucoes: [[], [7], {}, { x: 1 }],
    },
  },
  'PUT and GET /cob/{txid}': {
    schema: cobAnswer,
    make: aCob,
    needed: ['txid', 'status', 'valor'],
    optional: {
      calendario: [{}, { x: 1 }],
      location: [],
      loc: [{}, { x: 1 }],
      pixCopiaECola: [],
      pix: [[], [7], {}, { x: 1 }],
    },
  },
  'PUT and GET /pix/{e2eid}/devolucao/{id}': {
    schema: returnAnswer,
    make: aReturn,
    needed: ['id', 'valor', 'status'],
    optional: { rtrId: [], natureza: [], horario: [{}, { x: 1 }], motivo: [] },
  },
};

const CASES = Object.entries(MESSAGES).flatMap(([operation, message]) =>
  Object.keys(message.optional).map((field) => ({ operation, field, ...message })),
);
const NEEDED = Object.entries(MESSAGES).flatMap(([operation, message]) =>
  message.needed.map((field) => ({ operation, field, ...message })),
);

const isMeant = ({ optional, field }: { optional: Message['optional']; field: string }, value: unknown): boolean =>
  (optional[field] ?? []).some((one) => JSON.stringify(one) === JSON.stringify(value));

describe.each(CASES)('$field of $operation', ({ schema, make, field, optional }) => {
  it.each(ABSENT)('counts as absent when its value is %j', (value) => {
    const body = make({ [field]: value });
    const read = schema.parse(body) as Record<string, unknown>;
    expect(read[field]).toBeNull();
    expect(unreadFields(body, read)).not.toContain(field);
  });

  it.each(WRONG)('leaves its object readable when its value is %j', (value) => {
    const body = make({ [field]: value });
    const read = schema.parse(body) as Record<string, unknown>;
    const isMeaningful = isMeant({ optional, field }, value);
    expect(read[field] === null).toBe(!isMeaningful);
    expect(unreadFields(body, read).includes(field)).toBe(!isMeaningful);
  });
});

describe.each([
  ['a txid of a Pix', pixAnswer, aPix, 'txid'],
  ['a key of a Pix', pixAnswer, aPix, 'chave'],
  ['a key of a charge', cobAnswer, aCob, 'chave'],
] as const)('%s', (_, schema: z.ZodType, make: Message['make'], field) => {
  it.each(ABSENT)('counts as absent when its value is %j', (value) => {
    expect(schema.parse(make({ [field]: value }))).toMatchObject({ [field]: null });
  });

  it.each([
    ['52998224725', '52998224725'],
    [52_998_224_725, '52998224725'],
    [7, '7'],
  ])('may be written as a number: %j', (value, text) => {
    expect(schema.parse(make({ [field]: value }))).toMatchObject({ [field]: text });
  });

  it.each([...WRONG.filter((value) => value !== 7), -1, 1e25])(
    'makes a message unreadable, and does not count as absent, when it is %j',
    (value) => {
      expect(schema.safeParse(make({ [field]: value })).success).toBe(false);
    },
  );
});

describe.each(NEEDED)('$field of $operation', ({ schema, make, field }) => {
  it.each([...ABSENT, ...WRONG.filter((value) => typeof value !== 'number')])(
    'is required: the message is unreadable when it is %j',
    (value) => {
      expect(schema.safeParse(make({ [field]: value })).success).toBe(false);
    },
  );
});

describe('fields within fields', () => {
  it.each([
    [pixAnswer, aPix({ pagador: { cpf: 52998224725, nome: 'Ana' } }), ['pagador.cpf']],
    [pixAnswer, aPix({ pagador: 'Ana' }), ['pagador']],
    [pixAnswer, aPix({ devolucoes: {} }), []],
    [cobAnswer, aCob({ calendario: { criacao: 'x', expiracao: '' } }), ['calendario.criacao']],
    [cobAnswer, aCob({ calendario: { criacao: '2026-09-09T20:15:00Z', expiracao: -1 } }), ['calendario.expiracao']],
    [cobAnswer, aCob({ loc: { location: 7 } }), ['loc.location']],
    [returnAnswer, aReturn({ horario: { solicitacao: 7, liquidacao: null } }), ['horario.solicitacao']],
  ])('are null if unreadable, and are reported (case %#)', (schema: z.ZodType, body, paths) => {
    expect(unreadFields(body, schema.parse(body))).toEqual(paths);
  });
});

describe('a return', () => {
  it.each([
    [{ id: 'r1', valor: '9.90', status: 'DEVOLVIDO' }, 'returned'],
    [{ id: 'r1', valor: '9.90', status: 'devolvido', horario: null }, 'returned'],
    [{ id: 'r1', valor: 9.9, status: 'Em_Processamento', horario: 'x' }, 'in_progress'],
    [{ id: 'r1', valor: 9.9, status: 'nao_realizado', motivo: 7 }, 'failed'],
  ])('requires id, amount and status only: %j', (body, kind) => {
    expect(returnState(returnAnswer.parse(body), 0)?.kind).toBe(kind);
  });
});

describe('a token', () => {
  const read = (own: object) => tokenAnswer.parse({ access_token: 't', ...own });

  it.each([
    [3600, 3600],
    ['3600', 3600],
    [3599.5, 3599.5],
    ...[0, '0', -1, null, undefined, '', 'soon', {}].map((value) => [value, 300] as const),
  ])('with the life %j is valid for %d seconds', (expires_in, seconds) => {
    expect(read({ expires_in }).expires_in).toBe(seconds);
  });

  it.each([
    ['cob.read pix.read', 'cob.read pix.read'],
    [['cob.read', 'pix.read'], 'cob.read pix.read'],
    ...[null, undefined, '', 7, {}, [7]].map((scope) => [scope, null] as const),
  ])('is read with the scope %j', (scope, expected) => {
    expect(read({ scope }).scope).toBe(expected);
  });
});
