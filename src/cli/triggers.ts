import { randomUUID } from 'node:crypto';
import type { Client } from './client.js';

const AMOUNT = 1_990;
/** Pix key of the receiver of payouts, an example: the sandbox sends no money. */
const RECEIVER = '11144477735';
const HOUR_MS = 3_600_000;
/** The last notice before a deadline, see docs/contract.md#deadline-notices. */
const LAST_NOTICE_MS = 6 * HOUR_MS;

/** Calls of the sandbox after which an event happens. */
type Story = (client: Client) => Promise<void>;

interface Made {
  readonly id: string;
}

async function charge(client: Client): Promise<string> {
  const body = { amount: AMOUNT, payment_method: 'pix', description: 'recebe trigger' };
  return (await client.call<Made>('POST', '/v1/charges', { body, idempotencyKey: randomUUID() })).id;
}

/** A payment that a card may pay too: its events are the only ones of cards in `charge.*`. */
async function cardPayment(client: Client): Promise<string> {
  const body = { amount: AMOUNT, paymentMethods: ['PIX', 'CREDIT_CARD'], idempotencyKey: randomUUID() };
  return (await client.call<Made>('POST', '/v1/payments', { body })).id;
}

async function simulate(client: Client, id: string, body: object): Promise<void> {
  await client.call('POST', `/v1/sandbox/charges/${id}/simulate`, { body });
}

async function paidCharge(client: Client): Promise<string> {
  const id = await charge(client);
  await simulate(client, id, { event: 'pay' });
  return id;
}

async function disputedCharge(client: Client, deadline?: Date): Promise<string> {
  const id = await paidCharge(client);
  await simulate(client, id, { event: 'med_open', ...(deadline && { response_deadline: deadline.toISOString() }) });
  return id;
}

/** @param end what happens to the payout at the bank */
async function payout(client: Client, end: 'pay' | 'fail' | null): Promise<void> {
  await paidCharge(client);
  const body = { amount: 100, allow_duplicate: true, destination: { type: 'pix_key', key: RECEIVER } };
  const { id } = await client.call<Made>('POST', '/v1/payouts', { body, idempotencyKey: randomUUID() });
  if (end !== null) await client.call('POST', `/v1/sandbox/payouts/${id}/simulate`, { body: { event: end } });
}

const created: Story = async (client) => void (await charge(client));
const paid: Story = async (client) => void (await paidCharge(client));
const failed: Story = async (client) => simulate(client, await charge(client), { event: 'fail' });
const expired: Story = async (client) => simulate(client, await charge(client), { event: 'expire' });
const refunded: Story = async (client) => {
  const id = (await paidCharge(client)).replace(/^ch_/, '');
  await client.call('POST', `/v1/payments/${id}/refund`, { body: { idempotencyKey: randomUUID() } });
};
const payoutCreated: Story = (client) => payout(client, null);
const payoutPaid: Story = (client) => payout(client, 'pay');
const payoutFailed: Story = (client) => payout(client, 'fail');

/** How each event is made to happen in the sandbox. Names that are missing here cannot happen there at will. */
export const TRIGGERS: Readonly<Partial<Record<string, Story>>> = {
  'charge.created': created,
  'charge.paid': paid,
  'charge.failed': failed,
  'charge.expired': expired,
  'charge.processing': async (client) => simulate(client, await cardPayment(client), { event: 'processing' }),
  'charge.refunded': refunded,
  'charge.disputed': async (client) => {
    const id = await cardPayment(client);
    await simulate(client, id, { event: 'pay', method: 'CREDIT_CARD' });
    await simulate(client, id, { event: 'dispute' });
  },
  'payment.created': created,
  'payment.completed': paid,
  'payment.failed': failed,
  'payment.expired': expired,
  'payment.refunded': refunded,
  'payment.status_changed': paid,
  'med_case.created': async (client) => void (await disputedCharge(client)),
  'med_case.updated': async (client) => simulate(client, await disputedCharge(client), { event: 'med_withdraw' }),
  'med_case.deadline_approaching': async (client) =>
    void (await disputedCharge(client, new Date(Date.now() + LAST_NOTICE_MS + 2_000))),
  'med.resolved': async (client) =>
    simulate(client, await disputedCharge(client), { event: 'med_rule', result: 'agreed' }),
  'payout.created': payoutCreated,
  'payout.paid': payoutPaid,
  'payout.failed': payoutFailed,
  'withdrawal.created': payoutCreated,
  'withdrawal.completed': payoutPaid,
  'withdrawal.failed': payoutFailed,
  'withdrawal.status_changed': payoutPaid,
  'report.ready': async (client) => {
    const day = new Date().toISOString().slice(0, 10);
    await client.call('POST', '/v1/reports', { body: { type: 'sales', format: 'csv', from: day, to: day } });
  },
};
