import type { HttpLoad } from './http-load.js';
import type { Merchant } from './merchants.js';
import { PAY, payPath } from './requests.js';
import { createCharge, openCharges, type OpenCharge, type Service, STOCK } from './service.js';
import type { Next, Operation } from './stats.js';
import type { Workload } from './turns.js';

/** A workload of the service. */
export interface Work extends Workload<Service> {
  /** Merchants that take part; default: all. */
  readonly merchants?: (all: readonly Merchant[]) => readonly Merchant[];
  /** The recorded operation that bare `pg` clients repeat in turn with it. */
  readonly bare?: 'create' | 'pay';
  /** A workload of the same service that takes turns with it in the everyday figures. */
  readonly beside?: Work;
}

const oneWallet = (all: readonly Merchant[]): readonly Merchant[] => all.slice(0, 1);
const manyWallets = (all: readonly Merchant[]): readonly Merchant[] => all.slice(1, -1);
const webhookWallet = (all: readonly Merchant[]): readonly Merchant[] => all.slice(-1);

const CREATES: readonly Work[] = [1, 16, 64].map((connections) => ({
  name: `charges created, ${on(connections)}`,
  connections,
  bare: 'create',
  prepare:
    async ({ merchants }, load) =>
    (worker) =>
      createCharge(load, worker, merchantOf(merchants)),
  ...(connections === 16 ? { target: { ratio: 0.4, p99: 60 } } : {}),
}));

const PAYMENTS: readonly Work[] = [
  { name: 'one wallet', merchants: oneWallet, connections: 1 },
  { name: 'one wallet', merchants: oneWallet, connections: 16 },
  { name: '100 wallets', merchants: manyWallets, connections: 16 },
].map(({ name, merchants, connections }) => ({
  name: `charges paid, ${name}, ${on(connections)}`,
  ...{ connections, merchants, bare: 'pay' },
  prepare: (service, load) => payments(service, load, merchants, (worker, charge) => pay(load, worker, charge)),
}));

const WEBHOOKS: readonly Work[] = [
  { name: 'pay to webhook at 50/s', rate: 50, target: { p50: 30, p99: 150 } },
  { name: 'pay to webhook, 16 connections' },
].map((work) => ({
  ...work,
  connections: 16,
  prepare: async (service, load) => {
    for (const merchant of webhookWallet(service.merchants)) await service.receiveWebhooks(merchant);
    return payments(service, load, webhookWallet, (worker, charge) => {
      return () => service.untilWebhook(charge, pay(load, worker, charge));
    });
  },
}));

/** Requests that end behind the guards, at an id that does not exist. */
const OPEN: Work = {
  name: 'a request without authentication',
  connections: 16,
  prepare: async (_service, load) => (worker) => () => load.send(worker, 'GET', '/checkout/none/status', {}, null, 404),
};
const AUTHENTICATION: readonly Work[] = [
  OPEN,
  {
    ...{ name: 'a request with a key', connections: 16, beside: OPEN, target: { addedMs: 0.5 } },
    prepare: async ({ merchants: [merchant] }, load) => {
      const headers = { apikey: merchant?.apiKey ?? '' };
      return (worker) => () => load.send(worker, 'GET', '/v1/charges/none', headers, null, 404);
    },
  },
  {
    ...{ name: 'a request with a login', connections: 16, beside: OPEN, target: { addedMs: 0.5 } },
    prepare: async (service, load) => {
      const headers = { authorization: `Bearer ${await service.logIn()}` };
      return (worker) => () => load.send(worker, 'DELETE', '/v1/members/none', headers, null, 404);
    },
  },
];

const READS: readonly Work[] = [
  ['list of payments, first page', '/v1/payments?limit=20'],
  ['statistics of 7 days', '/v1/payments/stats'],
].map(([name = '', path = '']) => ({
  name,
  connections: 1,
  prepare: async ({ merchants: [merchant] }, load) => {
    const headers = { apikey: merchant?.apiKey ?? '' };
    return (worker) => () => load.send(worker, 'GET', path, headers, null, 200);
  },
}));

/** The everyday figures; `--against` measures them too. */
export const WORKLOADS: readonly Work[] = [...CREATES, ...PAYMENTS, ...WEBHOOKS, ...AUTHENTICATION, ...READS];

let turn = 0;

/** Every second charge belongs to the first merchant, the others alternate. */
export function merchantOf(merchants: readonly Merchant[]): Merchant {
  const [first, ...others] = merchants;
  turn += 1;
  const chosen = turn % 2 === 0 ? first : others[((turn - 1) / 2) % others.length];
  if (!chosen) throw new Error('No merchants');
  return chosen;
}

async function payments(
  service: Service,
  load: HttpLoad,
  merchants: (all: readonly Merchant[]) => readonly Merchant[],
  operation: (worker: number, charge: OpenCharge) => Operation,
): Promise<Next> {
  const { database, merchants: all } = service;
  const create = (worker: number, merchant: Merchant): Operation => createCharge(load, worker, merchant);
  const charges = await openCharges(database, merchants(all), STOCK, create);
  return (worker) => {
    const charge = charges.pop();
    return charge ? operation(worker, charge) : null;
  };
}

function pay(load: HttpLoad, worker: number, { id, merchant }: OpenCharge): Operation {
  return () => load.send(worker, 'POST', payPath(`ch_${id}`), { apikey: merchant.apiKey }, PAY, 200);
}

function on(connections: number): string {
  return connections === 1 ? '1 connection' : `${String(connections)} connections`;
}
