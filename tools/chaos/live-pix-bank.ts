import { setTimeout as delay } from 'node:timers/promises';
import type { PlannedPayment } from './live-pix-plan.js';
import type { PspProcess } from './psp-process.js';

const ROUND_MS = 400;
/** Shortest time for which a devolution stays under way. */
const UNDER_WAY_MS = 600;

/** Settles devolutions at the bank, or fails them, as planned. */
export class BankDesk {
  readonly #failing: ReadonlySet<string>;
  #isOpen = true;
  #work: Promise<void> = Promise.resolve();

  constructor(
    private readonly psp: PspProcess,
    payments: readonly PlannedPayment[],
  ) {
    this.#failing = new Set(
      payments.flatMap(({ endToEndId, refunds }) =>
        refunds.filter(({ failsAtBank }) => failsAtBank).map(({ amount }) => nameOf(endToEndId, amount)),
      ),
    );
  }

  open(): void {
    this.#work = this.#rounds();
    // Reported by `close`.
    this.#work.catch(() => undefined);
  }

  /** @throws the first error of the desk */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#work;
  }

  async #rounds(): Promise<void> {
    while (this.#isOpen) {
      await this.#round();
      await delay(ROUND_MS);
    }
  }

  async #round(): Promise<void> {
    const { pix } = await this.psp.state();
    const before = Date.now() - UNDER_WAY_MS;
    for (const { endToEndId, devolucoes = [] } of pix) {
      for (const { id, valor, status, horario } of devolucoes) {
        if (status !== 'EM_PROCESSAMENTO' || Date.parse(horario.solicitacao) > before) continue;
        const isFailing = this.#failing.has(nameOf(endToEndId, centsOf(valor)));
        await this.psp.settleReturn({ endToEndId, id, status: isFailing ? 'NAO_REALIZADO' : 'DEVOLVIDO' });
      }
    }
  }
}

function nameOf(endToEndId: string, amount: number): string {
  return `${endToEndId} ${String(amount)}`;
}

/** Converts `"110.00"` to `11000`. */
export function centsOf(valor: string): number {
  return Number(valor.replace('.', ''));
}
