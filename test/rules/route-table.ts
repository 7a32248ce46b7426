import { randomUUID } from 'node:crypto';
import type { Mode } from '../../src/core/mode.js';
import { type MedCase, MedDesk, versionOf } from '../../src/med/index.js';
import { aPaidCharge } from '../support/refunds.js';
import { PASSWORD, type TestService } from '../support/service.js';

/**
 * Every route of the server with its allowed callers and the answers to all others. A new route needs its row here
 * before any test of routes passes again.
 */

/** Callers. `foreign` is another account's, `live` the other mode's key, the rest is the account's own. */
export const CALLERS = [
  ...['nobody', 'garbage', 'revoked key', 'foreign key', 'live key', 'test key'],
  ...['MEMBER', 'ADMIN', 'OWNER', 'foreign OWNER', 'OPERATOR'],
  ...['logged out', 'removed', 'expired', 'alg none', 'signed by another key'],
] as const;

export type Caller = (typeof CALLERS)[number];
export type Expected = Readonly<Record<Caller, number>>;

/** Test objects that the rows need to answer an allowed caller with success. */
export interface World {
  readonly service: TestService;
  readonly accountId: string;
  /** A pending test charge of the account, and its id without the prefix. */
  readonly chargeId: string;
  readonly rawId: string;
  /** Make a payment by Pix for this request: a waiting one, and a paid one. */
  readonly paymentId: () => Promise<string>;
  readonly paidPaymentId: () => Promise<string>;
  /** Make an object for this request, because rotating or removing uses it up. */
  readonly apiKeyId: () => Promise<string>;
  readonly memberId: () => Promise<string>;
  readonly invitationToken: () => Promise<string>;
  /** A webhook endpoint for this request, and a delivery to it that has FAILED. */
  readonly endpointId: () => Promise<string>;
  readonly deliveryId: () => Promise<string>;
  /** A MED case for this request, open. */
  readonly medCaseId: () => Promise<string>;
  /** A report of the account, just requested. */
  readonly reportId: () => Promise<string>;
  /** An upload of evidence that is not completed yet. */
  readonly uploadId: (caseId: string) => Promise<string>;
  /** A payout for this request, which waits for approval. */
  readonly payoutId: () => Promise<string>;
  /** A saved payout destination for this request. */
  readonly destinationId: () => Promise<string>;
  /** A customer for this request, of one paid sale. */
  readonly customerId: () => Promise<string>;
  /** A payment link for this request. */
  readonly linkId: () => Promise<string>;
  readonly linkPath: () => Promise<string>;
  /** A payout of another account, whose bank does not answer. */
  readonly uncertainPayoutId: () => Promise<string>;
  /** Path of a note about a payment, written by the ADMIN for this request. */
  readonly notePath: () => Promise<string>;
}

export interface Row {
  readonly access: 'public' | 'api-key' | 'dashboard';
  readonly expected: Expected;
  /** Path with real ids in place of the route's parameters. */
  readonly path?: (world: World) => string | Promise<string>;
  readonly body?: (world: World) => object | Promise<object>;
  readonly headers?: () => Record<string, string>;
  /** A write that MEMBER may make too, through the dashboard's door. */
  readonly isOpenToMembers?: boolean;
  /** Answers of the door in test mode on a route that API keys do not have. */
  readonly atDoor?: { readonly OWNER: number; readonly ADMIN: number; readonly MEMBER?: number };
}

type Request = Pick<Row, 'path' | 'body' | 'headers' | 'isOpenToMembers' | 'atDoor'>;

/** Writes at the dashboard's door that leave no lasting change. */
export const UNAUDITED = [
  'POST /v1/webhooks/verify',
  'POST /v1/webhooks/endpoints/:id/test',
  'POST /v1/sandbox/charges/:id/simulate',
  'POST /v1/sandbox/payments/:id/simulate',
  'POST /v1/sandbox/payouts/:id/simulate',
  'POST /v1/med/cases/:id/evidence',
  'POST /v1/infractions/:id/evidence',
];

function all(status: number): Record<Caller, number> {
  return Object.fromEntries(CALLERS.map((caller) => [caller, status])) as Record<Caller, number>;
}

/** Returns the route as documents show it, and who may call it: routes of the dashboard's door are shown there. */
export function shownRoute(route: string, { access, atDoor }: Row): { shown: string; access: Row['access'] } {
  const shown = route.replaceAll(/:(\w+)/g, '{$1}');
  if (atDoor === undefined) return { shown, access };
  return { shown: shown.replace('/v1/', '/v1/dashboard/{mode}/'), access: 'dashboard' };
}

/** Expects one status for all callers, with any credentials. */
function open(status: number, request: Request = {}): Row {
  return { access: 'public', expected: all(status), ...request };
}

/** Lets keys in, and no other credentials. */
function keys(expected: { test: number; live: number; foreign: number }, request: Request = {}): Row {
  const { test, live, foreign } = expected;
  return {
    access: 'api-key',
    expected: { ...all(401), 'test key': test, 'live key': live, 'foreign key': foreign },
    ...request,
  };
}

/** Callers at the dashboard's door */
export const DOOR_CALLERS = [
  ...(['nobody', 'test key', 'MEMBER', 'ADMIN', 'OWNER', 'foreign OWNER', 'OPERATOR'] as const),
  ...(['logged out', 'removed', 'expired'] as const),
];

/**
 * Answers of the door to a route of keys: everybody of the account reads, OWNER and ADMIN write. Rows make objects of
 * test mode, so in live mode they are not found.
 */
export function atDoor(
  route: string,
  mode: Mode,
  { expected, isOpenToMembers = false, ...row }: Row,
): Partial<Expected> {
  const { 'test key': own, 'live key': live, 'foreign key': foreign } = expected;
  // The sandbox has no live mode: all members get the same 404.
  const isOpen = route.startsWith('GET ') || isOpenToMembers || (mode === 'live' && route.includes('/sandbox/'));
  const [ours, theirs] = mode === 'test' ? [own, foreign] : [live, live];
  const people: Partial<Expected> = {
    ...{ OWNER: ours, ADMIN: ours, MEMBER: isOpen ? ours : 403 },
    ...{ 'foreign OWNER': theirs, OPERATOR: 403 },
    // The role is checked before the object is looked up.
    ...(mode === 'test' ? row.atDoor : row.atDoor?.ADMIN === 403 ? { ADMIN: 403 } : {}),
  };
  return Object.fromEntries(DOOR_CALLERS.map((caller) => [caller, people[caller] ?? 401]));
}

/** Lets logged-in people in by role; the OWNER of another account gets `foreign`. */
function people(
  expected: { OWNER: number; ADMIN: number; MEMBER: number; OPERATOR: number; foreign: number },
  request: Request = {},
): Row {
  const { foreign, ...roles } = expected;
  return { access: 'dashboard', expected: { ...all(401), ...roles, 'foreign OWNER': foreign }, ...request };
}

/** Routes about the own login: the same for everybody who is logged in. */
function everybody(status: number, request: Request = {}): Row {
  return people({ OWNER: status, ADMIN: status, MEMBER: status, OPERATOR: status, foreign: status }, request);
}

/** Routes for operators only. */
function staff(status: number, request: Request = {}): Row {
  return people({ OWNER: 403, ADMIN: 403, MEMBER: 403, OPERATOR: status, foreign: 403 }, request);
}

async function heldPayment({ service }: World): Promise<string> {
  const { testKey } = await service.merchant({ payer_lock: 'true' });
  return (await service.heldCharge(testKey)).reviewId;
}

const bankFee = (accountId: string, amount: number): Record<string, unknown> => ({
  ...{ kind: 'bank_fee', account_id: accountId, mode: 'test', amount, borne_by: 'platform' },
  ...{ reason: 'Of the month', idempotency_key: randomUUID() },
});

/** Makes the request as a second operator, who is not the caller. */
async function waitingCorrection({ service, accountId }: World): Promise<string> {
  const { token } = await service.operator();
  const body = bankFee(accountId, 999_999);
  return (await service.call<{ id: string }>('POST', '/v1/operations/corrections', { token, body })).body.id;
}

/** The event of the creation of the world's charge. */
async function createdEvent({ service, rawId }: World): Promise<string> {
  const [event] = await service.sql<{ id: string }>(
    'SELECT id FROM events WHERE subject_id = $1 ORDER BY sequence LIMIT 1',
    [rawId],
  );
  return String(event?.id);
}

const newIdempotencyKey = (): Record<string, string> => ({ 'Idempotency-Key': `matrix-${randomUUID()}` });
const newEmail = (): string => `matrix-${randomUUID()}@example.com`;

function endpoint(action: string): Request {
  return { path: async ({ endpointId }) => `/v1/webhooks/endpoints/${await endpointId()}${action}` };
}

const charge: Request = {
  body: () => ({ amount: 1990, payment_method: 'pix' }),
  headers: newIdempotencyKey,
};

function payment(action: string): Request {
  return { path: async ({ paymentId }) => `/v1/payments/${await paymentId()}${action}` };
}

function payout(action: string, more: Request = {}): Request {
  return { path: async ({ payoutId }) => `/v1/payouts/${await payoutId()}${action}`, ...more };
}

function destination(action: string, more: Request = {}): Request {
  return { path: async ({ destinationId }) => `/v1/payout-destinations/${await destinationId()}${action}`, ...more };
}

function link(action: string, more: Request = {}): Request {
  return { path: async ({ linkId }) => `/v1/payment-links/${await linkId()}${action}`, ...more };
}

function customer(action: string, more: Request = {}): Request {
  return { path: async ({ customerId }) => `/v1/customers/${await customerId()}${action}`, ...more };
}

/** A receiver that no other request has. */
const newTarget = (): object => ({ type: 'pix_key', key: newEmail(), tax_id: '52998224725' });

function paidPayment(action: string): Request {
  return { path: async ({ paidPaymentId }) => `/v1/payments/${await paidPaymentId()}${action}` };
}

/** Rows of a route of one case, under both names of cases: `/v1/med/cases` and `/v1/infractions`. */
function medCase(method: string, action: string, request: Pick<Request, 'body'> = {}): Record<string, Row> {
  const row = (path: string): Row =>
    keys(
      { test: 200, live: 404, foreign: 404 },
      { ...request, path: async ({ medCaseId }) => `${path}/${await medCaseId()}${action}` },
    );
  return Object.fromEntries(
    ['/v1/med/cases', '/v1/infractions'].map((path) => [`${method} ${path}/:id${action}`, row(path)]),
  );
}

/**
 * Rows of an evidence route, under both names of cases. Each request has a case of its own, and an upload of its own
 * if its path names one.
 * @param action the path behind the evidence's id; `/`: the evidence itself; empty: the list of a case's evidence
 */
function evidence(
  method: string,
  action: string,
  status: number,
  request: Pick<Request, 'body'> = {},
): Record<string, Row> {
  const row = (path: string): Row =>
    keys(
      { test: status, live: 404, foreign: 404 },
      {
        ...request,
        path: async ({ medCaseId, uploadId }) => {
          const caseId = await medCaseId();
          const own = `${path}/${caseId}/evidence`;
          return action === '' ? own : `${own}/${await uploadId(caseId)}${action === '/' ? '' : action}`;
        },
      },
    );
  const pattern = action === '' ? '' : `/:evidence_id${action === '/' ? '' : action}`;
  return Object.fromEntries(
    ['/v1/med/cases', '/v1/infractions'].map((path) => [`${method} ${path}/:id/evidence${pattern}`, row(path)]),
  );
}

/** Cases under review, one for each operator action. A case waits if it claims another amount than the charge. */
const medReviews = new Map<string, Promise<MedCase>>();

function medReview({ service }: World, action: string): Promise<MedCase> {
  const make = async (): Promise<MedCase> => {
    const { testKey } = await service.merchant();
    const { id } = await aPaidCharge(service, testKey);
    await service.simulate(testKey, id, { event: 'med_open', amount: 1 });
    const [row] = await service.sql<{ id: string }>('SELECT id FROM med_cases WHERE transaction_id = $1', [
      id.slice(3),
    ]);
    return service.get(MedDesk).find(row?.id ?? '');
  };
  const made = medReviews.get(action) ?? make();
  medReviews.set(action, made);
  return made;
}

function medDesk(action: string): Request {
  return { path: async (world) => `/v1/operations/med/${(await medReview(world, action)).id}${action}` };
}

function medDecision(action: string): Request {
  return { ...medDesk(action), body: async (world) => ({ version: versionOf(await medReview(world, action)) }) };
}

export const ROUTES: Readonly<Record<string, Row>> = {
  'GET /': open(302),
  'GET /dashboard': open(200),
  'GET /dashboard/{*path}': open(200, { path: () => '/dashboard/test/sales' }),
  // Unknown addresses: real addresses of a connection are tested with the connection.
  ...Object.fromEntries(
    ['GET', 'POST'].flatMap((method) =>
      ['', '/pix'].map((suffix) => [
        `${method} /callbacks/pix/:connection/:secret${suffix}`,
        open(404, { path: () => `/callbacks/pix/nobody/nothing${suffix}` }),
      ]),
    ),
  ),
  'GET /checkout/:id': open(200, { path: ({ rawId }) => `/checkout/${rawId}` }),
  // An unknown charge, because drawing a QR code takes seconds under Jest.
  'GET /checkout/:id/qr.png': open(404, { path: () => '/checkout/nobody/qr.png' }),
  'GET /checkout/:id/receipt': open(404, { path: ({ rawId }) => `/checkout/${rawId}/receipt` }),
  'GET /checkout/:id/logo': open(404, { path: ({ rawId }) => `/checkout/${rawId}/logo` }),
  'GET /checkout/:id/status': open(200, { path: ({ rawId }) => `/checkout/${rawId}/status` }),
  'GET /pay/:id': open(200, { path: async ({ linkPath }) => linkPath() }),
  // A form without its fields.
  'POST /pay/:id': open(400, { path: async ({ linkPath }) => linkPath() }),
  'GET /pay/:id/print': open(200, { path: async ({ linkPath }) => `${await linkPath()}/print` }),
  // An unknown link, as with charges.
  'GET /pay/:id/qr.png': open(404, { path: () => '/pay/nobody/qr.png' }),
  'GET /pay/:id/qr.svg': open(404, { path: () => '/pay/nobody/qr.svg' }),
  'GET /pay/:id/picture': open(404, { path: async ({ linkPath }) => `${await linkPath()}/picture` }),
  'GET /pay/:id/logo': open(404, { path: async ({ linkPath }) => `${await linkPath()}/logo` }),
  'GET /docs': open(200),
  'GET /docs/': open(200),
  'GET /docs/*': open(200, { path: () => '/docs/swagger-ui.css' }),
  'GET /docs/LICENSE': open(404),
  'GET /docs/docs/swagger-ui-init.js': open(200),
  'GET /docs/index.html': open(200),
  'GET /docs/swagger-ui-init.js': open(200),
  'GET /health/live': open(200),
  'GET /health/ready': open(200),
  'GET /metrics': open(200),
  'GET /openapi.json': open(200),
  'GET /openapi/all.json': open(200),
  'GET /openapi/people.json': open(200),
  'GET /openapi/operators.json': open(200),
  'GET /openapi/payers.json': open(200),
  'GET /openapi/psps.json': open(200),
  // An unknown payment: real pages are tested with the payment.
  'GET /sandbox/boletos/:txid/boleto.pdf': open(404, { path: () => '/sandbox/boletos/nobody/boleto.pdf' }),
  'GET /sandbox/cards/:txid': open(404, { path: () => '/sandbox/cards/nobody' }),
  'POST /sandbox/cards/:txid/approve': open(404, { path: () => '/sandbox/cards/nobody/approve' }),
  'POST /sandbox/cards/:txid/refuse': open(404, { path: () => '/sandbox/cards/nobody/refuse' }),
  // Unknown URLs: the signed ones are tested with real files.
  'GET /storage/objects/:key/:id': open(404, { path: () => '/storage/objects/nobody/nothing' }),
  'PUT /storage/uploads/:key': open(404, { path: () => '/storage/uploads/nobody' }),
  'GET /v1/webhooks/event-catalog': open(200),
  'POST /v1/auth/accept-invitation': open(204, {
    body: async ({ invitationToken }) => ({ token: await invitationToken(), password: PASSWORD }),
  }),
  'POST /v1/auth/forgot-password': open(204, { body: () => ({ email: newEmail() }) }),
  'POST /v1/auth/reset-password': open(400, { body: () => ({ token: 'none', password: PASSWORD }) }),
  'POST /v1/auth/login': open(401, { body: () => ({ email: 'nobody@example.com', password: PASSWORD }) }),

  'GET /v1/wallets/releases': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/events': keys({ test: 200, live: 200, foreign: 200 }),
  'POST /v1/events/:id/resend': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: async (world) => `/v1/events/${await createdEvent(world)}/resend` },
  ),
  'GET /v1/events/stream': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/charges': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/charges/:id': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: ({ chargeId }) => `/v1/charges/${chargeId}` },
  ),
  // A live key has no acquirer here.
  'POST /v1/charges': keys({ test: 201, live: 422, foreign: 201 }, charge),
  'POST /v1/pix/charges': keys({ test: 201, live: 422, foreign: 201 }, charge),
  'POST /v1/sandbox/charges/:id/simulate': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: ({ chargeId }) => `/v1/sandbox/charges/${chargeId}/simulate`, body: () => ({ event: 'pay' }) },
  ),
  'POST /v1/payment-links': keys(
    { test: 201, live: 201, foreign: 201 },
    { body: () => ({ name: 'Coffee', amount: 5000 }), headers: newIdempotencyKey },
  ),
  'GET /v1/payment-links': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payment-links/totals': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payment-links/:id': keys({ test: 200, live: 404, foreign: 404 }, link('')),
  'PATCH /v1/payment-links/:id': keys(
    { test: 200, live: 404, foreign: 404 },
    link('', { body: () => ({ name: 'Tea' }) }),
  ),
  'POST /v1/payment-links/:id/end': keys({ test: 200, live: 404, foreign: 404 }, link('/end')),
  'GET /v1/customers': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/customers/totals': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/customers/:id': keys({ test: 200, live: 404, foreign: 404 }, customer('')),
  'GET /v1/customers/:id/payments': keys({ test: 200, live: 404, foreign: 404 }, customer('/payments')),
  'POST /v1/customers/:id/export': keys(
    { test: 404, live: 404, foreign: 404 },
    customer('/export', { atDoor: { OWNER: 200, ADMIN: 403 } }),
  ),
  'POST /v1/customers/:id/erase': keys(
    { test: 404, live: 404, foreign: 404 },
    customer('/erase', { body: () => ({}), atDoor: { OWNER: 200, ADMIN: 403 } }),
  ),
  'GET /v1/wallets': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/wallets/balance': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/wallets/entries': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/wallets/entries/totals': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/reports': keys({ test: 200, live: 200, foreign: 200 }),
  'POST /v1/reports': keys(
    { test: 202, live: 202, foreign: 202 },
    {
      body: () => ({ type: 'statement', format: 'csv', from: '2026-11-01', to: '2026-11-30' }),
      isOpenToMembers: true,
    },
  ),
  'GET /v1/reports/:id': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: async ({ reportId }) => `/v1/reports/${await reportId()}` },
  ),
  'GET /v1/payments': keys({ test: 200, live: 200, foreign: 200 }),
  'POST /v1/payments': keys(
    { test: 201, live: 422, foreign: 201 },
    { body: () => ({ amount: 1990, paymentMethods: ['PIX'], idempotencyKey: `matrix-${randomUUID()}` }) },
  ),
  'GET /v1/payments/metrics': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payments/stats': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payments/summary': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payments/totals': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payments/:id': keys({ test: 200, live: 404, foreign: 404 }, payment('')),
  'POST /v1/payments/:id/cancel': keys({ test: 200, live: 404, foreign: 404 }, payment('/cancel')),
  'GET /v1/payments/:id/provider-status': keys({ test: 200, live: 404, foreign: 404 }, payment('/provider-status')),
  'GET /v1/payments/:id/receipt': keys({ test: 200, live: 404, foreign: 404 }, paidPayment('/receipt')),
  'POST /v1/payments/:id/refund': keys(
    { test: 201, live: 404, foreign: 404 },
    { ...paidPayment('/refund'), body: () => ({ amount: 100, idempotencyKey: `matrix-${randomUUID()}` }) },
  ),
  'GET /v1/refunds': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payments/:id/refunds': keys({ test: 200, live: 404, foreign: 404 }, paidPayment('/refunds')),
  'GET /v1/payments/:id/notes': keys(
    { test: 404, live: 404, foreign: 404 },
    { ...payment('/notes'), atDoor: { OWNER: 200, ADMIN: 200, MEMBER: 200 } },
  ),
  'POST /v1/payments/:id/notes': keys(
    { test: 404, live: 404, foreign: 404 },
    { ...payment('/notes'), body: () => ({ text: 'Called back.' }), atDoor: { OWNER: 201, ADMIN: 201 } },
  ),
  'DELETE /v1/payments/:id/notes/:noteId': keys(
    { test: 404, live: 404, foreign: 404 },
    { path: ({ notePath }) => notePath(), atDoor: { OWNER: 204, ADMIN: 204 } },
  ),
  'POST /v1/sandbox/payments/:id/simulate': keys(
    { test: 200, live: 404, foreign: 404 },
    {
      path: async ({ paymentId }) => `/v1/sandbox/payments/${await paymentId()}/simulate`,
      body: () => ({ event: 'pay' }),
    },
  ),
  'POST /v1/payouts': keys(
    { test: 201, live: 422, foreign: 422 },
    {
      headers: newIdempotencyKey,
      body: async ({ paidPaymentId }) => {
        await paidPaymentId();
        return { amount: 100, destination: newTarget() };
      },
    },
  ),
  'GET /v1/payouts': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payouts/totals': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payouts/:id': keys({ test: 200, live: 404, foreign: 404 }, payout('')),
  'POST /v1/payouts/:id/cancel': keys({ test: 200, live: 404, foreign: 404 }, payout('/cancel')),
  'POST /v1/payouts/:id/approve': keys(
    { test: 404, live: 404, foreign: 404 },
    payout('/approve', { body: () => ({}), atDoor: { OWNER: 200, ADMIN: 200 } }),
  ),
  'POST /v1/payouts/:id/refuse': keys(
    { test: 404, live: 404, foreign: 404 },
    payout('/refuse', { body: () => ({}), atDoor: { OWNER: 200, ADMIN: 200 } }),
  ),
  'POST /v1/sandbox/payouts/:id/simulate': keys(
    { test: 200, live: 404, foreign: 404 },
    {
      path: async ({ payoutId }) => `/v1/sandbox/payouts/${await payoutId()}/simulate`,
      body: () => ({ event: 'pay' }),
    },
  ),
  'POST /v1/payout-destinations': keys({ test: 201, live: 201, foreign: 201 }, { body: newTarget }),
  'GET /v1/payout-destinations': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/payout-destinations/:id': keys({ test: 200, live: 404, foreign: 404 }, destination('')),
  'DELETE /v1/payout-destinations/:id': keys({ test: 204, live: 404, foreign: 404 }, destination('')),
  'POST /v1/payout-destinations/:id/approve': keys(
    { test: 404, live: 404, foreign: 404 },
    destination('/approve', { body: () => ({}), atDoor: { OWNER: 200, ADMIN: 403 } }),
  ),
  'GET /v1/operations/payouts': staff(200),
  'POST /v1/operations/payouts/:id/resolve': staff(200, {
    path: async ({ uncertainPayoutId }) => `/v1/operations/payouts/${await uncertainPayoutId()}/resolve`,
    body: () => ({ outcome: 'failed', reason: 'The statement of the bank does not have it.' }),
  }),
  'POST /v1/payments/:id/resend-webhook': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: ({ rawId }) => `/v1/payments/${rawId}/resend-webhook` },
  ),
  'GET /v1/med/cases': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/infractions': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/med/cases/totals': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/infractions/totals': keys({ test: 200, live: 200, foreign: 200 }),
  ...medCase('GET', ''),
  ...medCase('POST', '/appeal', { body: () => ({ reason: 'The goods were delivered.' }) }),
  ...medCase('POST', '/accept'),
  ...evidence('GET', '', 200),
  ...evidence('POST', '', 201, {
    body: () => ({ file_name: 'receipt.png', file_size: 1000, mime_type: 'image/png' }),
  }),
  ...evidence('POST', '/complete', 200),
  ...evidence('DELETE', '/', 200),
  'GET /v1/webhooks/deliveries': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/webhooks/deliveries/:id': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: async ({ deliveryId }) => `/v1/webhooks/deliveries/${await deliveryId()}` },
  ),
  'POST /v1/webhooks/deliveries/:id/retry': keys(
    { test: 200, live: 404, foreign: 404 },
    { path: async ({ deliveryId }) => `/v1/webhooks/deliveries/${await deliveryId()}/retry` },
  ),
  'GET /v1/webhooks/event-catalog/:event/sample': keys(
    { test: 200, live: 200, foreign: 200 },
    { path: () => '/v1/webhooks/event-catalog/charge.paid/sample' },
  ),
  'GET /v1/webhooks/stats': keys({ test: 200, live: 200, foreign: 200 }),
  'GET /v1/webhooks/endpoints': keys({ test: 200, live: 200, foreign: 200 }),
  'POST /v1/webhooks/endpoints': keys(
    { test: 201, live: 201, foreign: 201 },
    { body: () => ({ url: 'https://merchant.example/hooks', events: ['*'] }) },
  ),
  'PATCH /v1/webhooks/endpoints/:id': keys(
    { test: 200, live: 404, foreign: 404 },
    { ...endpoint(''), body: () => ({ events: ['charge.paid'] }) },
  ),
  'DELETE /v1/webhooks/endpoints/:id': keys({ test: 200, live: 404, foreign: 404 }, endpoint('')),
  'POST /v1/webhooks/endpoints/:id/rotate-secret': keys(
    { test: 200, live: 404, foreign: 404 },
    endpoint('/rotate-secret'),
  ),
  'POST /v1/webhooks/endpoints/:id/test': keys(
    { test: 200, live: 404, foreign: 404 },
    { ...endpoint('/test'), body: () => ({ event: 'charge.paid' }) },
  ),
  'POST /v1/webhooks/endpoints/:id/recover': keys(
    { test: 200, live: 404, foreign: 404 },
    {
      ...endpoint('/recover'),
      body: ({ service }) => ({ since: new Date(service.clock.now().getTime() - 60_000).toISOString() }),
    },
  ),
  'POST /v1/webhooks/default-secret/rotate': keys({ test: 200, live: 200, foreign: 200 }),
  'POST /v1/webhooks/verify': keys(
    { test: 200, live: 200, foreign: 200 },
    { body: () => ({ payload: '{}', headers: {}, secret: 'none' }), isOpenToMembers: true },
  ),

  'POST /v1/auth/logout': everybody(204),
  'POST /v1/auth/password': everybody(400, {
    body: () => ({ current_password: 'wrong', new_password: PASSWORD }),
  }),
  'GET /v1/auth/session': everybody(200),
  'PATCH /v1/auth/user': everybody(200, { body: () => ({ name: 'Ana' }) }),
  'GET /v1/auth/notices': people({ OWNER: 200, ADMIN: 200, MEMBER: 200, OPERATOR: 403, foreign: 200 }),
  'PATCH /v1/auth/notices': people(
    { OWNER: 200, ADMIN: 200, MEMBER: 200, OPERATOR: 403, foreign: 200 },
    { body: () => ({ mail: ['dispute'] }) },
  ),
  'GET /v1/auth/sessions': everybody(200),
  // An unknown session: own sessions are tested elsewhere.
  'DELETE /v1/auth/sessions/:id': everybody(404, { path: () => `/v1/auth/sessions/${randomUUID()}` }),
  'POST /v1/auth/totp': everybody(200, { body: () => ({ password: PASSWORD }) }),
  'POST /v1/auth/totp/confirm': everybody(400, { body: () => ({ code: 'wrong' }) }),
  'DELETE /v1/auth/totp': everybody(400, { body: () => ({ password: 'wrong', code: 'wrong' }) }),
  'GET /v1/api-keys': people({ OWNER: 200, ADMIN: 200, MEMBER: 200, OPERATOR: 403, foreign: 200 }),
  'POST /v1/api-keys': people({ OWNER: 201, ADMIN: 201, MEMBER: 403, OPERATOR: 403, foreign: 201 }),
  'POST /v1/api-keys/:id/rotate': people(
    { OWNER: 201, ADMIN: 201, MEMBER: 403, OPERATOR: 403, foreign: 404 },
    { path: async ({ apiKeyId }) => `/v1/api-keys/${await apiKeyId()}/rotate` },
  ),
  'DELETE /v1/api-keys/:id': people(
    { OWNER: 200, ADMIN: 200, MEMBER: 403, OPERATOR: 403, foreign: 404 },
    { path: async ({ apiKeyId }) => `/v1/api-keys/${await apiKeyId()}` },
  ),
  'GET /v1/api-keys/:id': people(
    { OWNER: 200, ADMIN: 200, MEMBER: 200, OPERATOR: 403, foreign: 404 },
    { path: async ({ apiKeyId }) => `/v1/api-keys/${await apiKeyId()}` },
  ),
  'GET /v1/account': people({ OWNER: 200, ADMIN: 200, MEMBER: 200, OPERATOR: 403, foreign: 200 }),
  'PATCH /v1/account': people(
    { OWNER: 200, ADMIN: 403, MEMBER: 403, OPERATOR: 403, foreign: 200 },
    { body: () => ({ accent: '#7a1fa2' }) },
  ),
  'GET /v1/members': people({ OWNER: 200, ADMIN: 200, MEMBER: 403, OPERATOR: 403, foreign: 200 }),
  'POST /v1/members': people(
    { OWNER: 201, ADMIN: 201, MEMBER: 403, OPERATOR: 403, foreign: 201 },
    { body: () => ({ email: newEmail(), role: 'MEMBER' }) },
  ),
  'PATCH /v1/members/:id': people(
    { OWNER: 200, ADMIN: 200, MEMBER: 403, OPERATOR: 403, foreign: 404 },
    { path: async ({ memberId }) => `/v1/members/${await memberId()}`, body: () => ({ role: 'ADMIN' }) },
  ),
  'DELETE /v1/members/:id': people(
    { OWNER: 200, ADMIN: 200, MEMBER: 403, OPERATOR: 403, foreign: 404 },
    { path: async ({ memberId }) => `/v1/members/${await memberId()}` },
  ),
  'GET /v1/audit-events': people({ OWNER: 200, ADMIN: 200, MEMBER: 403, OPERATOR: 403, foreign: 200 }),
  'GET /v1/request-logs': people({ OWNER: 200, ADMIN: 200, MEMBER: 200, OPERATOR: 403, foreign: 200 }),

  'GET /v1/operations/accounts': staff(200),
  'POST /v1/operations/accounts': staff(201, {
    body: () => ({ name: 'Padaria', email: newEmail() }),
  }),
  'GET /v1/operations/accounts/:id': staff(200, {
    path: ({ accountId }) => `/v1/operations/accounts/${accountId}`,
  }),
  'GET /v1/operations/accounts/:id/api-keys': staff(200, {
    path: ({ accountId }) => `/v1/operations/accounts/${accountId}/api-keys`,
  }),
  'PATCH /v1/operations/accounts/:id': staff(200, {
    path: ({ accountId }) => `/v1/operations/accounts/${accountId}`,
    body: () => ({ city: 'Recife' }),
  }),
  'DELETE /v1/operations/api-keys/:id': staff(200, {
    path: async ({ apiKeyId }) => `/v1/operations/api-keys/${await apiKeyId()}`,
  }),
  'GET /v1/operations/fraud-hits': staff(200),
  'GET /v1/operations/reviews': staff(200),
  'POST /v1/operations/reviews/:id/accept': staff(200, {
    path: async (world) => `/v1/operations/reviews/${await heldPayment(world)}/accept`,
  }),
  'POST /v1/operations/reviews/:id/return': staff(200, {
    path: async (world) => `/v1/operations/reviews/${await heldPayment(world)}/return`,
  }),
  'GET /v1/operations/unmatched': staff(200),
  // An unknown Pix: only a live connection receives a Pix without a charge.
  'POST /v1/operations/unmatched/:id/correct': staff(404, {
    path: () => `/v1/operations/unmatched/${randomUUID()}/correct`,
    body: () => ({ kind: 'write_off', reason: 'Nobody wants it', idempotency_key: randomUUID() }),
  }),
  'GET /v1/operations/corrections': staff(200),
  'POST /v1/operations/corrections': staff(200, { body: ({ accountId }) => bankFee(accountId, 1) }),
  'POST /v1/operations/corrections/:id/approve': staff(200, {
    path: async (world) => `/v1/operations/corrections/${await waitingCorrection(world)}/approve`,
  }),
  'POST /v1/operations/corrections/:id/reject': staff(200, {
    path: async (world) => `/v1/operations/corrections/${await waitingCorrection(world)}/reject`,
  }),
  'GET /v1/operations/queues': staff(200),
  'GET /v1/operations/negative-balances': staff(200),
  'GET /v1/operations/connections': staff(200),
  'GET /v1/operations/returned': staff(200),
  'GET /v1/operations/unreadable': staff(200),
  'GET /v1/operations/work': staff(200),
  'GET /v1/operations/med': staff(200),
  'GET /v1/operations/med/waiting': staff(200),
  'GET /v1/operations/med/:id': staff(200, medDesk('')),
  'GET /v1/operations/med/:id/evidence': staff(200, {
    path: async ({ medCaseId }) => `/v1/operations/med/${await medCaseId()}/evidence`,
  }),
  'POST /v1/operations/med/:id/approve': staff(200, medDecision('/approve')),
  'POST /v1/operations/med/:id/dismiss': staff(200, medDecision('/dismiss')),
  'POST /v1/operations/med/:id/request-evidence': staff(200, {
    path: async ({ medCaseId }) => `/v1/operations/med/${await medCaseId()}/request-evidence`,
  }),
  'PATCH /v1/operations/med/accounts/:id': staff(200, {
    path: ({ accountId }) => `/v1/operations/med/accounts/${accountId}`,
    body: () => ({ outcome_notifications: true }),
  }),
};
