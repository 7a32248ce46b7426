import type * as z from 'zod';
import { isReturnId, newRtrId } from '../../src/brazil/index.js';
import { type Bank, Refusal } from './bank.js';
import { type Merchant, type Pix, type Return } from './model.js';
import { Problem } from './problems.js';
import { readReturn } from './requests.js';
import type { medReturn, returnSettlement, Settings } from './settings.js';
import { type Timers } from './timers.js';

/** The simulated bank's own; no bank has it. */
const ISPB = '99999004';
const RETURN_WINDOW_MS = 90 * 86_400_000;
/** Efí's words. */
const TOO_LITTLE_MONEY = 'Saldo insuficiente para realizar a devolução.';

/** Devolutions: those that merchants request, and those of the MED between banks. */
export class Returns {
  constructor(
    private readonly bank: Bank,
    private readonly settings: Settings,
    private readonly now: () => Date,
    private readonly timers: Timers,
    private readonly availableOf: (merchant: Merchant) => number,
    /** Called for each change that the merchant has not learnt by an answer. */
    private readonly onChange: (pix: Pix) => void,
  ) {}

  /** Requests a devolution under the merchant's id; a repetition returns the existing one. @throws Problem */
  request(merchant: Merchant, endToEndId: string, id: string, body: unknown): Return {
    const pix = this.bank.getPix(merchant, endToEndId);
    const { amount, description } = readReturn(body);
    if (!isReturnId(id)) throw invalid('O campo devolucao.id não respeita o _schema_.', 'id', id);
    const known = pix.returns.find((moved) => moved.id === id);
    if (known) {
      if (known.amount === amount && known.nature === 'ORIGINAL') return known;
      throw invalid('O {id} já foi utilizado por outra requisição de devolução para o {e2eid} em questão.', 'id', id);
    }
    if (amount > remaining(pix)) {
      throw invalid('A devolução, em conjunto com as demais, excederia o valor do pix originário.', 'devolucao.valor');
    }
    if (this.now().getTime() - pix.at.getTime() > RETURN_WINDOW_MS) {
      throw invalid('A requisição viola a janela de tempo permitida para devoluções de um pix.', 'e2eid', endToEndId);
    }
    const moved = this.#add(pix, { id, amount, description, nature: 'ORIGINAL', reason: null });
    const isCovered = this.availableOf(merchant) >= 0;
    if (this.settings.returnDelayMs !== null) {
      this.timers.after(this.settings.returnDelayMs, () => {
        if (moved.status !== 'EM_PROCESSAMENTO') return;
        if (isCovered) this.#settle(pix, moved, this.settings.returnOutcome, null);
        else this.#settle(pix, moved, 'NAO_REALIZADO', TOO_LITTLE_MONEY);
      });
    }
    return moved;
  }

  /** @throws Problem PixNaoEncontrado, PixDevolucaoNaoEncontrada */
  get(merchant: Merchant, endToEndId: string, id: string): Return {
    const moved = this.bank.getPix(merchant, endToEndId).returns.find((one) => one.id === id);
    if (!moved) throw Problem.of('PixDevolucaoNaoEncontrada');
    return moved;
  }

  /** Ends a devolution by hand; a repetition with the same status changes nothing. @throws Refusal */
  settle({ endToEndId, id, status, reason }: z.output<typeof returnSettlement>): Return {
    const pix = this.bank.bookedPix(endToEndId);
    const moved = pix.returns.find((one) => one.id === id);
    if (!moved) throw new Refusal(404, `that Pix has no devolution ${id}`);
    if (moved.status === status) return moved;
    if (moved.status !== 'EM_PROCESSAMENTO') throw new Refusal(409, `the devolution is ${moved.status} for good`);
    return this.#settle(pix, moved, status, reason);
  }

  /** The payer's bank takes money back by the MED, unasked. @throws Refusal */
  med({ endToEndId, id, nature, status, reason, ...input }: z.output<typeof medReturn>): Return {
    const pix = this.bank.bookedPix(endToEndId);
    const amount = input.amount ?? remaining(pix);
    if (pix.returns.some((one) => one.id === id)) throw new Refusal(409, `that Pix has a devolution ${id} already`);
    if (amount > remaining(pix) || amount === 0) {
      throw new Refusal(409, `only ${String(remaining(pix))} cents of that Pix have not gone back`);
    }
    const moved = this.#add(pix, { id, amount, nature, description: null, reason });
    if (status !== 'EM_PROCESSAMENTO') return this.#settle(pix, moved, status, reason);
    this.onChange(pix);
    return moved;
  }

  #add(pix: Pix, input: Pick<Return, 'id' | 'amount' | 'nature' | 'description' | 'reason'>): Return {
    const requestedAt = this.now();
    const rtrId = newRtrId(ISPB, requestedAt);
    const moved: Return = { ...input, rtrId, requestedAt, status: 'EM_PROCESSAMENTO', settledAt: null };
    pix.returns.push(moved);
    return moved;
  }

  #settle(pix: Pix, moved: Return, status: 'DEVOLVIDO' | 'NAO_REALIZADO', reason: string | null): Return {
    moved.status = status;
    moved.reason = reason ?? moved.reason;
    if (status === 'DEVOLVIDO') moved.settledAt = this.now();
    this.onChange(pix);
    return moved;
  }
}

/** Cents that have neither gone back nor are on their way. */
function remaining(pix: Pix): number {
  const gone = pix.returns.filter(({ status }) => status !== 'NAO_REALIZADO');
  return gone.reduce((rest, { amount }) => rest - amount, pix.amount);
}

function invalid(razao: string, propriedade: string, valor?: string): Problem {
  return Problem.of('PixDevolucaoInvalida', [{ razao, propriedade, ...(valor !== undefined && { valor }) }]);
}
