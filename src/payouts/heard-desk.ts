import type { PayoutAnswer, PayoutDesk, PayoutOrder, PayoutState, SentPayout } from '../acquirers/index.js';

/** A desk that notes whether its PSP has answered the last call. */
export class HeardDesk {
  /** Null: the PSP was not called. */
  isHeard: boolean | null = null;

  constructor(private readonly desk: PayoutDesk) {}

  get capabilities(): PayoutDesk['capabilities'] {
    return this.desk.capabilities;
  }

  async send(order: PayoutOrder): Promise<PayoutAnswer> {
    return this.#noted(await this.desk.send(order));
  }

  async lookUp(sent: SentPayout): Promise<PayoutState> {
    return this.#noted(await this.desk.lookUp(sent));
  }

  #noted<A extends PayoutAnswer | PayoutState>(answer: A): A {
    this.isHeard = answer.kind !== 'unknown' && answer.kind !== 'not_now';
    return answer;
  }
}
