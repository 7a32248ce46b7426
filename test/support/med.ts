import type { Answer, ChargeAnswer, TestService } from './service.js';
import { waitFor } from './wait.js';

export interface MedCaseAnswer extends Record<string, unknown> {
  id: string;
  object: string;
  type: string;
  status: string;
  amount: number;
  charge_id: string;
  reason: string | null;
  response_deadline: string | null;
  evidence_requested_at: string | null;
  appeal_reason: string | null;
  appealed_at: string | null;
  evidence_count: number;
  money_outcome: string | null;
  opened_at: string;
  closed_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface MedListAnswer {
  object: string;
  data: MedCaseAnswer[];
  has_more: boolean;
  next_cursor: string | null;
}

export interface MedReviewAnswer extends Record<string, unknown> {
  id: string;
  version: string;
  review: string | null;
  visible: boolean;
  held_amount: number;
  lost_amount: number;
  reported_amount: number;
  case: MedCaseAnswer;
}

export interface BalanceAnswer {
  available: number;
  pending: number;
  retained: number;
}

export async function balance(service: TestService, key: string): Promise<BalanceAnswer> {
  const { body } = await service.call<BalanceAnswer>('GET', '/v1/wallets/balance', { key });
  return { available: body.available, pending: body.pending, retained: body.retained };
}

/** Something happens at the sandbox bank. @returns the charge after it */
export async function happens(
  service: TestService,
  key: string,
  chargeId: string,
  body: Record<string, unknown>,
): Promise<ChargeAnswer> {
  const answer = await service.simulate(key, chargeId, body);
  if (answer.status !== 200) throw new Error(`${JSON.stringify(body)} was answered ${answer.text}`);
  return answer.body.charge;
}

/** Cases of a charge, the oldest first. */
export async function casesOf(service: TestService, key: string, chargeId: string): Promise<MedCaseAnswer[]> {
  const { body } = await service.call<MedListAnswer>('GET', `/v1/med/cases?charge_id=${chargeId}`, { key });
  return body.data.reverse();
}

/** The only case of a charge. */
export async function caseOf(service: TestService, key: string, chargeId: string): Promise<MedCaseAnswer> {
  const [found, ...others] = await casesOf(service, key, chargeId);
  if (!found || others.length > 0) throw new Error(`${chargeId} has ${others.length + (found ? 1 : 0)} cases`);
  return found;
}

export async function aDisputedCharge(
  service: TestService,
  key: string,
  amount = 100,
  claim: Record<string, unknown> = {},
): Promise<{ charge: ChargeAnswer; medCase: MedCaseAnswer }> {
  const { body } = await service.createCharge(key, { amount });
  await happens(service, key, body.id, { event: 'pay' });
  const charge = await happens(service, key, body.id, { event: 'med_open', ...claim });
  return { charge, medCase: await caseOf(service, key, body.id) };
}

export function answerCase<T = MedCaseAnswer>(
  service: TestService,
  key: string,
  id: string,
  answer: 'appeal' | 'accept',
): Promise<Answer<T>> {
  return service.call<T>('POST', `/v1/med/cases/${id}/${answer}`, {
    key,
    ...(answer === 'appeal' ? { body: { reason: 'The goods were delivered.' } } : {}),
  });
}

/** Cases of all accounts that wait for an operator, newest first. */
export async function medQueue(service: TestService, token: string, query = ''): Promise<MedReviewAnswer[]> {
  const { body } = await service.call<{ data: MedReviewAnswer[] }>('GET', `/v1/operations/med${query}`, { token });
  return body.data;
}

/** An operator decides about a case as it is now. */
export async function decideCase<T = MedReviewAnswer>(
  service: TestService,
  token: string,
  id: string,
  action: string,
  body: object = {},
): Promise<Answer<T>> {
  const path = `/v1/operations/med/${id}`;
  const { version } = (await service.call<MedReviewAnswer>('GET', path, { token })).body;
  return service.call<T>('POST', `${path}/${action}`, { token, body: { version, ...body } });
}

/** Types of the events that were written about the subjects, in their order. */
export async function eventsAbout(service: TestService, ...ids: string[]): Promise<string[]> {
  const rows = await service.sql<{ type: string }>(
    'SELECT type FROM events WHERE subject_id = ANY ($1::uuid[]) ORDER BY occurred_at, sequence, id',
    [ids.map((id) => id.replace(/^[a-z]+_/, ''))],
  );
  return rows.map(({ type }) => type);
}

/** The mails to an account's contact, once there are `count`. */
export function mailsTo(
  service: TestService,
  to: string,
  count: number,
): Promise<{ subject: string; text_body: string }[]> {
  return waitFor(`${count} mails to ${to}`, async () => {
    const rows = await service.sql<{ subject: string; text_body: string }>(
      'SELECT subject, text_body FROM emails WHERE recipient = $1 ORDER BY created_at, id',
      [to],
    );
    return rows.length >= count ? rows : null;
  });
}
