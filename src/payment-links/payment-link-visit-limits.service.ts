import { Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { perMinute, RateLimiter, type RateLimitPolicy, refuse } from '../core/rate-limit/index.js';
import type { PaymentLink } from './payment-link.entity.js';

/** Charges of all visitors of one link: hundreds open a link that was broadcast at once. */
const PER_LINK = perMinute(600);
/** Bytes that a charge writes. */
const BYTES_PER_CHARGE = 2048;

/** Limits on the charges that strangers make in the name of a merchant, beside the limit by their address. */
@Injectable()
export class PaymentLinkVisitLimits {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  /** Takes from the link's own limit, and in test mode from the account's limit on data. @throws ApiError 429 */
  async take({ id, accountId, mode }: PaymentLink): Promise<void> {
    const { enabled, testModePerDay } = this.config.rateLimit;
    if (!enabled) return;
    await this.#take(`pay:${id}`, PER_LINK, 1);
    if (mode === 'live') return;
    // The bucket of `RateLimitGuard`.
    const policy = { rate: testModePerDay / 86_400, burst: testModePerDay };
    await this.#take(`test-data:${accountId}`, policy, BYTES_PER_CHARGE);
  }

  async #take(key: string, policy: RateLimitPolicy, cost: number): Promise<void> {
    const result = await this.limiter.take(key, policy, cost);
    if (!result.allowed) await refuse(result);
  }
}
