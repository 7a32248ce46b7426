import { randomUUID } from 'node:crypto';
import type { Answer, TestService } from './service.js';

export interface LinkAnswer extends Record<string, unknown> {
  readonly id: string;
  readonly url: string;
  readonly status: 'active' | 'ended';
  readonly ended_reason: string | null;
  readonly paid_count: number;
  readonly paid_amount: number;
}

export function createLink(
  service: TestService,
  key: string,
  body: Record<string, unknown> = {},
  idempotencyKey: string = randomUUID(),
): Promise<Answer<LinkAnswer>> {
  return service.call<LinkAnswer>('POST', '/v1/payment-links', {
    key,
    body: { name: 'Coffee of the month', amount: 5000, ...body },
    headers: { 'Idempotency-Key': idempotencyKey },
  });
}

/** An undefined field is left out. */
export async function aPaymentLink(
  service: TestService,
  key: string,
  body: Record<string, unknown> = {},
): Promise<LinkAnswer> {
  const answer = await createLink(service, key, body);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
}

export async function readLink(service: TestService, key: string, id: string): Promise<LinkAnswer> {
  return (await service.call<LinkAnswer>('GET', `/v1/payment-links/${id}`, { key })).body;
}

/** Path of the link's page at the test's own port. */
export function pathOf({ url }: Pick<LinkAnswer, 'url'>): string {
  return new URL(url).pathname;
}

export interface Visit {
  readonly page: Answer;
  /** The hidden field of the form. */
  readonly visit: string;
  readonly cookie: string;
}

/** Opens the page as a browser does. @param cookie of an earlier visit */
export async function openLink(service: TestService, path: string, cookie = ''): Promise<Visit> {
  const page = await service.call('GET', path, { headers: cookie === '' ? {} : { cookie } });
  const visit = /name="visit" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  return { page, visit, cookie: page.headers.get('set-cookie')?.split(';', 1)[0] ?? cookie };
}

/** Sends the page's form. */
export function sendForm(
  service: TestService,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return service.call('POST', path, {
    rawBody: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
  });
}

/** Opens the page and pays. @returns the id of the charge, as `ch_…` */
export async function visitAndPay(
  service: TestService,
  path: string,
  fields: Record<string, string> = {},
): Promise<string> {
  const { visit } = await openLink(service, path);
  return chargeIdOf(await sendForm(service, path, { visit, ...fields }));
}

/** Reads the id of the charge to whose page the answer leads. */
export function chargeIdOf({ status, headers, text }: Answer): string {
  const id = /\/checkout\/([0-9a-f-]{36})/.exec(headers.get('location') ?? '')?.[1];
  if (status !== 303 || id === undefined) throw new Error(`No charge was made: ${String(status)} ${text}`);
  return `ch_${id}`;
}
