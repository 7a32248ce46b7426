import { type Answer, type Call, type Route } from './api.js';
import { type Bank } from './bank.js';
import { type Books } from './books.js';
import { QRCODE_DETAIL_ERRORS } from './efi-errors.js';
import {
  readBlocks,
  readDetail,
  readQrcode,
  readSend,
  readSendId,
  readSendQuery,
  type SendOrder,
  type SendQuery,
  STATUS_FILTERS,
} from './efi-requests.js';
import { wireAccepted, wireBalance, wireCode, wireSend } from './efi-wire.js';
import { type Cob, documentOf, type Send } from './model.js';
import { pageOf } from './queries.js';
import { type SendWay, type Sends } from './sends.js';
import { type Settings } from './settings.js';

const SEND = /^\/v[23]\/gn\/pix\/([^/]+)$/;
const SAME_OWNER = /^\/v2\/gn\/pix\/([^/]+)\/mesma-titularidade$/;
const QRCODE = /^\/v2\/gn\/pix\/([^/]+)\/qrcode$/;
const QRCODE_DETAIL = /^\/v2\/gn\/qrcodes\/detalhar$/;
const BY_ID = /^\/v2\/gn\/pix\/enviados\/id-envio\/([^/]+)$/;
const BY_END_TO_END_ID = /^\/v2\/gn\/pix\/enviados\/([^/]+)$/;
const LIST = /^\/v2\/gn\/pix\/enviados$/;
const BALANCE = /^\/v2\/gn\/saldo\/?$/;

/** Efí's own operations of money out: API Pix has none. */
export function efiRoutes(bank: Bank, books: Books, sends: Sends, settings: Settings): readonly Route[] {
  const accept =
    (way: SendWay, read: (call: Call) => SendOrder) =>
    (call: Call): Answer => {
      const id = readSendId(call.params[0]);
      sends.expectNew(call.merchant, id);
      const send = sends.request(call.merchant, id, way, read(call));
      return { status: 201, body: wireAccepted(send, settings.sends) };
    };
  const cobAt = (location: string): Cob | undefined => bank.cobAt(location);
  const readTransfer = ({ body }: Call): SendOrder => readSend(body());
  const put = { operation: 'send.put', method: 'PUT' } as const;
  const get = { method: 'GET', scope: 'gn.pix.send.read' } as const;
  return [
    { ...put, path: SEND, scope: 'pix.send', run: accept('send', readTransfer) },
    { ...put, path: SAME_OWNER, scope: 'gn.pix.sameownership.send', run: accept('sameOwner', readTransfer) },
    {
      ...put,
      path: QRCODE,
      scope: 'gn.qrcodes.pay',
      run: accept('qrcode', ({ body }) => readQrcode(body(), cobAt)),
    },
    {
      operation: 'qrcode.detail',
      method: 'POST',
      path: QRCODE_DETAIL,
      scope: 'gn.qrcodes.read',
      errors: QRCODE_DETAIL_ERRORS,
      run: ({ body }) => {
        const cob = readDetail(body(), cobAt);
        sends.expectDescribable(cob);
        return { status: 200, body: wireCode(cob, bank.now()) };
      },
    },
    {
      ...get,
      operation: 'send.list',
      path: LIST,
      run: ({ merchant, query }) => ({
        status: 200,
        body: sendPage(sends.of(merchant), readSendQuery(query), settings.sends),
      }),
    },
    {
      ...get,
      operation: 'send.get',
      path: BY_ID,
      run: ({ merchant, params }) => ({
        status: 200,
        body: wireSend(sends.get(merchant, params[0]), settings.sends),
      }),
    },
    {
      ...get,
      operation: 'send.get',
      path: BY_END_TO_END_ID,
      run: ({ merchant, params }) => ({
        status: 200,
        body: wireSend(sends.getByEndToEndId(merchant, params[0]), settings.sends),
      }),
    },
    {
      operation: 'balance.get',
      method: 'GET',
      path: BALANCE,
      scope: 'gn.balance.read',
      run: ({ merchant, query }) => ({ status: 200, body: wireBalance(books.balance(merchant), readBlocks(query)) }),
    },
  ];
}

/** The requested page, in the order in which the sends were requested. A window is one of requests, not of returns. */
function sendPage(all: readonly Send[], { page, pageSize, ...filters }: SendQuery, form: Settings['sends']): object {
  const [from, to] = [Date.parse(filters.inicio), Date.parse(filters.fim)];
  const document = filters.cpf ?? filters.cnpj;
  const status = filters.status === undefined ? undefined : STATUS_FILTERS[filters.status];
  const found = all.filter(
    (send) =>
      send.requestedAt.getTime() >= from &&
      send.requestedAt.getTime() <= to &&
      (status === undefined || send.status === status) &&
      (filters.devolucaoPresente === undefined || send.returns.length > 0 === filters.devolucaoPresente) &&
      (document === undefined || documentOf(send.receiver) === document),
  );
  const { paginacao, entries } = pageOf(found, { page, pageSize });
  const showsBank = filters.exibirCodigoBanco === true;
  return { parametros: { ...filters, paginacao }, pix: entries.map((send) => wireSend(send, form, showsBank)) };
}
