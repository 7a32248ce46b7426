import { MerchantAccountBody } from '../../accounts/index.js';
import { NullableTime } from '../../core/http/index.js';

/** Answer of `/v1/account`. */
export class OwnAccountBody extends MerchantAccountBody {
  @NullableTime('Next time of the payout schedule, UTC; null without a schedule.', '2026-11-23T12:00:00.000Z')
  payout_schedule_next_at!: string | null;
}
