import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cleanup } from '../../harness/cleanup.js';
import type { HttpLoad } from '../http-load.js';
import type { Next } from '../stats.js';
import { Ground, type Peer, peerOf } from './peer.js';

const VERSION = '3.7.3';
const PATH = '/shop-api';
/** Sessions or orders prepared for a round, which ends early when they are used up. */
const STOCK = 250;
const PREPARED_AT_ONCE = 8;

const PRODUCTS = `name,slug,description,assets,facets,optionGroups,optionValues,sku,price,taxCategory,stockOnHand,\
trackInventory,variantAssets,variantFacets
Bread,bread,Bread,,,,,BREAD,19.90,Standard,0,false,,
`;

const RESULT = '{ __typename ... on Order { id code state totalWithTax } ... on ErrorResult { message } }';
const ADD_ITEM = `order: addItemToOrder(productVariantId: "1", quantity: 1) ${RESULT}`;
const ADD_PAYMENT = `order: addPaymentToOrder(input: { method: "dummy", metadata: {} }) ${RESULT}`;
/** Mutations of one request run one after the other; the last answer shows whether all of them succeeded. */
const UNTIL_PAYMENT = `
  customer: setCustomerForOrder(
    input: { firstName: "Maria", lastName: "da Silva", emailAddress: "maria@example.com" }
  ) ${RESULT}
  address: setOrderShippingAddress(input: { streetLine1: "Rua Direita 1", countryCode: "BR" }) ${RESULT}
  shipping: setOrderShippingMethod(shippingMethodId: ["1"]) ${RESULT}
  order: transitionOrderToState(state: "ArrangingPayment") ${RESULT}`;

/**
 * Starts Vendure's server and worker, with its job queue in PostgreSQL.
 * @param directory the directory where it is installed
 */
export async function startVendure(directory: string, runDirectory: string, cleanup: Cleanup): Promise<Peer> {
  const dependencies = { '@vendure/core': VERSION, pg: '8.23.1' };
  const ground = await Ground.prepare(directory, dependencies, ['vendure/vendure.js'], runDirectory, cleanup);
  writeFileSync(join(directory, 'products.csv'), PRODUCTS);
  await ground.run('vendure.js', 'fill');
  const server = await ground.start('vendure.js', ['server'], 'now running on port');
  const worker = await ground.start('vendure.js', ['worker'], 'Vendure Worker is ready');
  const shop = ground.url + PATH;
  const empty: string[] = [];
  const payable: string[] = [];
  return peerOf(
    `Vendure ${VERSION}`,
    ground.url,
    [server, worker],
    [
      {
        name: 'Vendure, item to a new order',
        beside: 'charges created, 16 connections',
        connections: 16,
        prepare: async (_system, load) => {
          await fillUp(empty, () => newSession(shop));
          return mutate(load, ADD_ITEM, 'AddingItems', empty);
        },
      },
      {
        name: 'Vendure, payment to an order',
        beside: 'charges paid, 100 wallets, 16 connections',
        connections: 16,
        prepare: async (_system, load) => {
          await fillUp(payable, async () => {
            const token = await newSession(shop);
            for (const mutations of [ADD_ITEM, UNTIL_PAYMENT]) await send(shop, token, `mutation { ${mutations} }`);
            return token;
          });
          return mutate(load, ADD_PAYMENT, 'PaymentSettled', payable);
        },
      },
    ],
  );
}

/** Runs each mutation with one of the sessions; the session's order ends in the given state. */
function mutate(load: HttpLoad, mutation: string, state: string, tokens: string[]): Next {
  const body = JSON.stringify({ query: `mutation { ${mutation} }` });
  const isRight = (answer: string): boolean => stateIn(answer) === state;
  return (worker) => {
    const token = tokens.pop();
    if (token === undefined) return null;
    return () => load.send(worker, 'POST', PATH, { authorization: `Bearer ${token}` }, body, 200, isRight);
  };
}

/** @returns null when a mutation was refused */
function stateIn(answer: string): string | null {
  const { data, errors } = JSON.parse(answer) as {
    data: Record<string, { __typename: string; state?: string }> | null;
    errors?: unknown;
  };
  if (errors !== undefined || Object.values(data ?? {}).some(({ __typename }) => __typename !== 'Order')) return null;
  return data?.['order']?.state ?? null;
}

async function fillUp(tokens: string[], make: () => Promise<string>): Promise<void> {
  const work = async (): Promise<void> => {
    while (tokens.length < STOCK) tokens.push(await make());
  };
  await Promise.all(Array.from({ length: PREPARED_AT_ONCE }, work));
}

/** @returns the token of an anonymous session that has no order yet */
async function newSession(shop: string): Promise<string> {
  const token = (await post(shop, null, '{ activeOrder { id } }')).headers.get('vendure-auth-token');
  if (token === null) throw new Error('Vendure gave no session');
  return token;
}

async function send(shop: string, token: string, query: string): Promise<void> {
  const answer = await (await post(shop, token, query)).text();
  if (stateIn(answer) === null) throw new Error(`Vendure could not prepare an order: ${answer}`);
}

function post(shop: string, token: string | null, query: string): Promise<Response> {
  return fetch(shop, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query }),
  });
}
