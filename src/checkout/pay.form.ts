import { validate } from 'class-validator';
import { normalizeTaxId } from '../brazil/index.js';
import { CustomerDto } from '../charges/index.js';
import { MAX_AMOUNT } from '../core/money/index.js';
import { visibleLength, withoutControls } from '../core/text.js';
import type { Answers, Askable, PaymentLink } from '../payment-links/index.js';

export type PayField = 'amount' | Askable | 'answer';

/** The sent form of a payment link. */
export interface PayForm {
  readonly values: Partial<Record<PayField, string>>;
  readonly wrong: readonly PayField[];
  /** Null when a field is wrong. */
  readonly answers: Answers | null;
}

export const EMPTY_FORM: PayForm = { values: {}, wrong: [], answers: null };

const MAX_ANSWER = 500;
const CUSTOMER_FIELDS = { name: 'name', tax_id: 'document', email: 'email', phone: 'phone' } as const;
/** Both ways to write an amount, with thousands or without: 1.234,56 and 1,234.56. */
const PORTUGUESE = /^(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d{1,2})?$/;
const ENGLISH = /^(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d{1,2})?$/;

/** Lists the fields of the link's form in their order. */
export function fieldsOf({ amount, ask, question }: PaymentLink): PayField[] {
  return [
    ...(amount === null ? (['amount'] as const) : []),
    ...ask,
    ...(question === null ? [] : (['answer'] as const)),
  ];
}

/** Returns the cents of an amount that a person has written; null for another text. */
export function centsOf(text: string): number | null {
  const bare = text.replace(/^\s*R\$/i, '').trim();
  const plain = PORTUGUESE.test(bare)
    ? bare.replaceAll('.', '').replace(',', '.')
    : ENGLISH.test(bare)
      ? bare.replaceAll(',', '')
      : null;
  if (plain === null) return null;
  const [reais = '', cents = ''] = plain.split('.');
  const amount = Number(`${reais}${cents.padEnd(2, '0')}`);
  return amount <= MAX_AMOUNT ? amount : null;
}

/** Reads and checks the form: everything that the link asks must be there. */
export async function readForm(link: PaymentLink, sent: URLSearchParams): Promise<PayForm> {
  const fields = fieldsOf(link);
  const values = Object.fromEntries(
    fields.map((field) => [
      field,
      withoutControls(sent.get(field) ?? '')
        .trim()
        .toWellFormed(),
    ]),
  ) as PayForm['values'];
  const amount = link.amount ?? centsOf(values.amount ?? '');
  const customer = Object.assign(new CustomerDto(), {
    ...Object.fromEntries(link.ask.map((field) => [CUSTOMER_FIELDS[field], values[field]])),
  });
  const refused = new Set((await validate(customer, { forbidUnknownValues: false })).map(({ property }) => property));
  const isWrong = (field: PayField): boolean => {
    if (field === 'amount') return !isWithin(link, amount);
    if (visibleLength(values[field] ?? '') === 0) return true;
    return field === 'answer' ? [...(values.answer ?? '')].length > MAX_ANSWER : refused.has(CUSTOMER_FIELDS[field]);
  };
  const wrong = fields.filter(isWrong);
  if (wrong.length > 0 || amount === null) return { values, wrong, answers: null };
  return {
    values,
    wrong,
    answers: {
      amount,
      customer: {
        name: customer.name ?? null,
        document: customer.document === undefined ? null : normalizeTaxId(customer.document),
        email: customer.email ?? null,
        phone: customer.phone ?? null,
      },
      answer: values.answer ?? null,
    },
  };
}

function isWithin({ amountMin, amountMax }: PaymentLink, amount: number | null): boolean {
  return amount !== null && amount >= (amountMin ?? 1) && amount <= (amountMax ?? MAX_AMOUNT);
}
