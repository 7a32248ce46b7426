import { afterEach, beforeEach, expect } from '@jest/globals';
import { expectLedgerCoherent } from './coherence.js';
import { ToldBank } from './med-bank.js';
import { balance, casesOf, decideCase, medQueue, type MedReviewAnswer } from './med.js';
import { type Answer, TestService } from './service.js';

/**
 * A test world for the money of disputes: a service without background tasks, a bank, one merchant at a time and an
 * operator.
 */
export class MedWorld {
  /** Set by `begin`. */
  told!: ToldBank;
  key = '';
  /** An operator's, who has to log in again when a test has moved the clock by an hour. */
  token = '';

  readonly service = TestService.forSpec({ env: { ROLE: 'api' } });

  /** As `TestService.forSpec`; each test has a bank, a merchant and an operator of its own. */
  static forSpec(): MedWorld {
    const world = new MedWorld();
    beforeEach(() => world.begin());
    afterEach(() => world.end());
    return world;
  }

  async begin(): Promise<void> {
    this.told = new ToldBank(this.service);
    await this.merchant();
    await this.operator();
  }

  /** For `afterEach`. */
  end(): Promise<void> {
    return expectLedgerCoherent(this.service.database.url);
  }

  /** Switches to a new merchant. */
  async merchant(settings: Record<string, string> = {}): Promise<void> {
    this.key = (await this.service.merchant(settings)).testKey;
  }

  async operator(): Promise<void> {
    this.token = (await this.service.operator()).token;
  }

  async expectBalance(available: number, retained: number, pending = 0): Promise<void> {
    expect(await balance(this.service, this.key)).toEqual({ available, pending, retained });
  }

  async statusOf(chargeId: string): Promise<string> {
    return (await this.service.getCharge(this.key, chargeId)).body.status;
  }

  async metadataOf(chargeId: string): Promise<unknown> {
    return (await this.service.getCharge(this.key, chargeId)).body.metadata['med'];
  }

  /** Amount, status and outcome of each case of a charge, the oldest first. */
  async outcomes(chargeId: string): Promise<unknown[]> {
    const cases = await casesOf(this.service, this.key, chargeId);
    return cases.map((medCase) => [medCase.amount, medCase.status, medCase.money_outcome]);
  }

  /** The newest case that waits for an operator */
  async waiting(query = '?limit=1'): Promise<MedReviewAnswer> {
    const [found] = await medQueue(this.service, this.token, query);
    if (!found) throw new Error('Nothing waits');
    return found;
  }

  /** Decides about a waiting case in its current version. */
  async decide(id: string, action: 'approve' | 'dismiss', body: object = {}): Promise<Answer<MedReviewAnswer>> {
    return decideCase(this.service, this.token, id, action, body);
  }
}
