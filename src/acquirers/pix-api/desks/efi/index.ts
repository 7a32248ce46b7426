import { isReturnId } from '../../../../brazil/index.js';
import { type NotificationHint, UnreadableAnswer } from '../../../acquirer.port.js';
import type { PayoutAnswer, PayoutBalance, PayoutOrder, PayoutState, SentPayout } from '../../../payout-desk.port.js';
import type { PspAnswer } from '../../pix-api.client.js';
import { PixApiError } from '../../pix-api.errors.js';
import type { DeskOperation } from '../../profile.js';
import { isReturnName, textOf, toCents } from '../../translation.js';
import type { Desk, DeskPsp } from '../desk.js';
import { believedAnswer, believedState, payoutHint, readList, type ShownPayout } from '../shown-payout.js';
import { balanceAnswer, codeDetails, sentEntry, sentPix } from './messages.js';
import { isNotFound, refusalOf, sendRequest, shownPayout } from './translation.js';

/** Efí's desk. Sources: its page (`source`) and the schemas of its package sdk-node-apis-efi 2.0.1. */
export const efi: Desk = {
  source: 'https://dev.efipay.com.br/docs/api-pix/envio-pagamento-pix/',
  capabilities: {
    targets: ['pix_key', 'br_code', 'bank_account'],
    // Efí documents no code for payment accounts.
    accountTypes: ['checking', 'savings'],
    // Efí recommends to wait for the end of each send, and does not say what happens otherwise.
    maxUnderWay: 1,
    // Unverified: no document says whether a "not found" is final.
    isNotFoundFinal: false,
    quietMs: 90 * 60_000,
  },
  scopes: [
    { scope: 'pix.send', use: 'to send to keys and bank accounts' },
    { scope: 'gn.pix.send.read', use: 'to look payouts up' },
    { scope: 'gn.pix.sameownership.send', use: 'to send to the own tax id' },
    { scope: 'gn.balance.read', use: 'to compare the balance' },
    { scope: 'gn.qrcodes.read', use: 'to read dynamic Pix codes' },
    { scope: 'gn.qrcodes.pay', use: 'to pay dynamic Pix codes' },
  ],
  needsWebhook: true,
  send,
  lookUp,
  list: (psp, from, to) => readList(psp, '/v2/gn/pix/enviados', (entry) => shown(psp, 'payout.list', entry), from, to),
  balance,
  hintsOf,
};

async function send(psp: DeskPsp, order: PayoutOrder): Promise<PayoutAnswer> {
  const request = sendRequest(order, psp.pixKey);
  if (!request) return { kind: 'refused', reason: 'destination_invalid' };
  const { path, body, code } = request;
  const refusal = code === null ? null : await checkCode(psp, order, code);
  if (refusal) return refusal;
  const answer = await psp.call({ operation: 'payout.send', method: 'PUT', path, body });
  if (answer.kind !== 'ok') return refused(psp, 'payout.send', answer, order);
  return believedAnswer(psp, shown(psp, 'payout.send', answer.body), order);
}

/**
 * Looks up the amount of a dynamic code, which its holder may change: Efí pays whatever the code asks for.
 * Source: Efí's page. SDK 2 reads the code's location instead of this endpoint.
 * @returns null when the code may be paid
 * @throws PixApiError `unavailable`: nothing was sent yet
 */
async function checkCode(psp: DeskPsp, order: PayoutOrder, pixCopiaECola: string): Promise<PayoutAnswer | null> {
  const operation = 'payout.check';
  let answer: PspAnswer;
  try {
    answer = await psp.call({ operation, method: 'POST', path: '/v2/gn/qrcodes/detalhar', body: { pixCopiaECola } });
  } catch (error) {
    if (!(error instanceof PixApiError)) throw error;
    throw new PixApiError('unavailable', error.reason, operation, error.retryAfterMs);
  }
  if (answer.kind !== 'ok') {
    const { kind } = refused(psp, operation, answer, order);
    return { kind: 'refused', reason: kind === 'refused' ? 'destination_invalid' : 'refused' };
  }
  const details = psp.answers.read(operation, codeDetails, answer.body, { sendId: order.sendId });
  const amount = details?.valor.final ?? details?.valor.original ?? '';
  const isOpen = (details?.status ?? 'ATIVA') === 'ATIVA';
  return isOpen && toCents(amount) === order.amount ? null : { kind: 'refused', reason: 'destination_invalid' };
}

/** The meaning of a failed call: a refusal only by a name that Efí documents. */
function refused(
  psp: DeskPsp,
  operation: DeskOperation,
  answer: Exclude<PspAnswer, { kind: 'ok' }>,
  { sendId }: PayoutOrder,
): PayoutAnswer {
  const { status, problem } = answer.kind === 'refused' ? answer : { ...answer, status: 404 };
  if (problem) psp.answers.refusal(operation, { status, problem }, { sendId });
  // A 409 says that Efí knows this id.
  const reason = problem && status !== 409 ? refusalOf(problem) : null;
  return reason === null ? { kind: 'unknown' } : { kind: 'refused', reason };
}

async function lookUp(psp: DeskPsp, sent: SentPayout): Promise<PayoutState> {
  const operation = 'payout.get';
  const answer = await psp.call({ operation, method: 'GET', path: `/v2/gn/pix/enviados/id-envio/${sent.sendId}` });
  if (answer.kind === 'not_found' && isNotFound(answer.problem)) return { kind: 'not_found' };
  return believedState(psp, operation, shown(psp, operation, psp.answers.body(operation, answer)), sent);
}

function shown(psp: DeskPsp, operation: DeskOperation, body: unknown): ShownPayout {
  return shownPayout(psp.answers.read(operation, sentPix, body, {}), body, psp.now);
}

async function balance(psp: DeskPsp): Promise<PayoutBalance> {
  const operation = 'payout.balance';
  const answer = await psp.call({ operation, method: 'GET', path: '/v2/gn/saldo', query: { bloqueios: 'true' } });
  const read = psp.answers.read(operation, balanceAnswer, psp.answers.body(operation, answer), {});
  const cents = Object.entries(read?.bloqueios ?? {}).map(
    ([name, written]) => [name, toCents(written) ?? NaN] as const,
  );
  const { total, ...blocked } = Object.fromEntries(cents) as Record<string, number>;
  const sum = Object.values(blocked).reduce((all, one) => all + one, 0);
  const available = toCents(read?.saldo.replace(/^-/, '') ?? '');
  // A sum with an unreadable part is not a number, and equals nothing.
  if (!read || available === null || sum !== (total ?? sum)) throw new UnreadableAnswer('a balance');
  return { available: read.saldo.startsWith('-') ? -available : available, blocked };
}

/** Reads `{tipo: 'SOLICITACAO', status, gnExtras: {idEnvio, erro: {codigo}}, devolucoes}`. */
function hintsOf(entry: unknown): NotificationHint[] | null {
  const { tipo, status, gnExtras, devolucoes } = sentEntry.safeParse(entry).data ?? {};
  const sendId = gnExtras?.idEnvio ?? '';
  // Efí reports a Pix that was sent in its app without an id: there is nothing to look up by.
  if (!isReturnId(sendId)) return tipo === 'SOLICITACAO' ? [] : null;
  const words = [status, gnExtras?.erro?.codigo].filter((word) => word && /^[A-Z0-9_]{1,40}$/.test(word));
  const returns = (devolucoes ?? []).flatMap((each) => textOf(each, 'rtrId') ?? textOf(each, 'id') ?? []);
  const changes = new Set([words.join('.') || 'MOVED', ...returns.filter(isReturnName)]);
  return [...changes].map((change) => payoutHint(sendId, change));
}
