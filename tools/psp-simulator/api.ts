import { type CommonErrors } from './api-error.js';
import { type Bank } from './bank.js';
import { type Operation } from './faults.js';
import { type Merchant, type Scope } from './model.js';
import { Problem } from './problems.js';
import { pixPage, readPixQuery } from './queries.js';
import { type Returns } from './returns.js';
import { wireCob, wireCobWithPix, wirePix, wireReturn, wireWebhook } from './wire.js';

export interface Call {
  readonly merchant: Merchant;
  /** Values of the path's variables. */
  readonly params: readonly [string, string];
  readonly query: URLSearchParams;
  /** Read only by routes with a body: text that is not JSON is a Problem. */
  readonly body: () => unknown;
}

export interface Answer {
  readonly status: number;
  readonly body: object | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: JSON, or a problem document of RFC 7807 from status 400. */
  readonly contentType?: string;
}

export interface Route {
  readonly operation: Operation;
  readonly method: string;
  /** The path below the base URL; of Efí's own operations the whole path. */
  readonly path: RegExp;
  readonly scope: Scope;
  readonly run: (call: Call) => Answer;
  /** Default: those of the API that the path belongs to. */
  readonly errors?: CommonErrors;
}

const COB = /^\/cob\/([^/]+)$/;
const PIX = /^\/pix\/([^/]+)$/;
const RETURN = /^\/pix\/([^/]+)\/devolucao\/([^/]+)$/;
const WEBHOOK = /^\/webhook\/([^/]+)$/;

/** The part of API Pix that is simulated. */
export function apiRoutes(bank: Bank, returns: Returns): readonly Route[] {
  return [
    {
      operation: 'cob.put',
      method: 'PUT',
      path: COB,
      scope: 'cob.write',
      run: ({ merchant, params, body }) => ({ status: 201, body: wireCob(bank.putCob(merchant, params[0], body())) }),
    },
    {
      operation: 'cob.patch',
      method: 'PATCH',
      path: COB,
      scope: 'cob.write',
      run: ({ merchant, params, body }) => ({ status: 200, body: wireCob(bank.patchCob(merchant, params[0], body())) }),
    },
    {
      operation: 'cob.get',
      method: 'GET',
      path: COB,
      scope: 'cob.read',
      run: ({ merchant, params, query }) => {
        const cob = bank.getCob(merchant, params[0]);
        return { status: 200, body: wireCobWithPix(cob, readRevisionNumber(query, cob.revisions.length)) };
      },
    },
    {
      operation: 'pix.get',
      method: 'GET',
      path: PIX,
      scope: 'pix.read',
      run: ({ merchant, params }) => ({ status: 200, body: wirePix(bank.getPix(merchant, params[0])) }),
    },
    {
      operation: 'pix.list',
      method: 'GET',
      path: /^\/pix$/,
      scope: 'pix.read',
      run: ({ merchant, query }) => ({ status: 200, body: pixPage(bank.pixOf(merchant), readPixQuery(query)) }),
    },
    {
      operation: 'return.put',
      method: 'PUT',
      path: RETURN,
      scope: 'pix.write',
      run: ({ merchant, params, body }) => ({
        status: 201,
        body: wireReturn(returns.request(merchant, ...params, body())),
      }),
    },
    {
      operation: 'return.get',
      method: 'GET',
      path: RETURN,
      scope: 'pix.read',
      run: ({ merchant, params }) => ({ status: 200, body: wireReturn(returns.get(merchant, ...params)) }),
    },
    {
      operation: 'webhook.put',
      method: 'PUT',
      path: WEBHOOK,
      scope: 'webhook.write',
      run: ({ merchant, params, body }) => {
        bank.putWebhook(merchant, params[0], body());
        return { status: 200, body: null };
      },
    },
    {
      operation: 'webhook.get',
      method: 'GET',
      path: WEBHOOK,
      scope: 'webhook.read',
      run: ({ merchant, params }) => ({ status: 200, body: wireWebhook(bank.getWebhook(merchant, params[0])) }),
    },
    {
      operation: 'webhook.delete',
      method: 'DELETE',
      path: WEBHOOK,
      scope: 'webhook.write',
      run: ({ merchant, params }) => {
        bank.deleteWebhook(merchant, params[0]);
        return { status: 204, body: null };
      },
    },
  ];
}

/** Undefined: the last revision. @throws Problem CobConsultaInvalida if it does not exist */
function readRevisionNumber(query: URLSearchParams, count: number): number | undefined {
  const text = query.get('revisao');
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) < count) return Number(text);
  const razao = 'O parâmetro revisao corresponde a uma revisão inexistente.';
  throw Problem.of('CobConsultaInvalida', [{ razao, propriedade: 'revisao', valor: text }]);
}
