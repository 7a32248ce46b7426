import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import * as z from 'zod';
import { Refusal } from './bank.js';
import { type FaultRule } from './faults.js';
import { close, listen, readText, send } from './http.js';
import { type PspSimulator } from './simulator.js';

/** Actions of `POST /<name>`: the simulator's methods, which validate the body themselves. */
const ACTIONS: Readonly<Record<string, (simulator: PspSimulator, body: never) => unknown>> = {
  pay: (simulator, body: Parameters<PspSimulator['pay']>[0]) => simulator.pay(body),
  settleReturn: (simulator, body: Parameters<PspSimulator['settleReturn']>[0]) => simulator.settleReturn(body),
  med: (simulator, body: Parameters<PspSimulator['med']>[0]) => simulator.med(body),
  expire: (simulator, body: Parameters<PspSimulator['expire']>[0]) => simulator.expire(body),
  expireTokens: (simulator) => {
    simulator.expireTokens();
  },
  settleSend: (simulator, body: Parameters<PspSimulator['settleSend']>[0]) => simulator.settleSend(body),
  reviewSend: (simulator, body: Parameters<PspSimulator['reviewSend']>[0]) => simulator.reviewSend(body),
  returnSend: (simulator, body: Parameters<PspSimulator['returnSend']>[0]) => simulator.returnSend(body),
  sendInApp: (simulator, body: Parameters<PspSimulator['sendInApp']>[0]) => simulator.sendInApp(body),
  move: (simulator, body: Parameters<PspSimulator['move']>[0]) => simulator.move(body),
  block: (simulator, body: Parameters<PspSimulator['block']>[0]) => simulator.block(body),
  addKey: (simulator, body: Parameters<PspSimulator['addKey']>[0]) => {
    simulator.addKey(body);
  },
  announce: (simulator, body: Parameters<PspSimulator['announce']>[0]) => {
    simulator.announce(body);
  },
  addFault: (simulator, body: FaultRule) => {
    simulator.addFault(body);
    return simulator.state().faults;
  },
  clearFaults: (simulator) => {
    simulator.clearFaults();
  },
  change: (simulator, body: Parameters<PspSimulator['change']>[0]) => simulator.change(body),
  addMerchant: (simulator, body: Parameters<PspSimulator['addMerchant']>[0]) => {
    const { clientId, pixKeys } = simulator.addMerchant(body);
    return { clientId, pixKeys };
  },
};

/** The operator's interface: plain HTTP on loopback, JSON in and out. `GET /state` lists everything. */
export class ControlServer {
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  constructor(private readonly simulator: PspSimulator) {}

  start(port: number): Promise<number> {
    return listen(this.#server, port);
  }

  stop(): Promise<void> {
    return close(this.#server);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = (status: number, body: object): void => {
      send(response, { status, body }, 'application/json');
    };
    try {
      const text = await readText(request);
      const path = (request.url ?? '/').slice(1);
      if (request.method === 'GET' && path === 'state') {
        answer(200, this.simulator.state());
        return;
      }
      const action = request.method === 'POST' && Object.hasOwn(ACTIONS, path) ? ACTIONS[path] : undefined;
      if (!action) {
        answer(404, { error: `there are GET /state and POST /${Object.keys(ACTIONS).join(', /')}` });
        return;
      }
      const body: unknown = text === '' ? {} : JSON.parse(text);
      answer(200, (action(this.simulator, body as never) as object | undefined) ?? { done: true });
    } catch (error) {
      if (error instanceof Refusal) answer(error.status, { error: error.message });
      else if (error instanceof z.ZodError) answer(400, { error: z.prettifyError(error) });
      else answer(400, { error: error instanceof Error ? error.message : String(error) });
    }
  }
}
