import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { type Account, AccountsService } from '../accounts/index.js';
import { saoPauloTime } from '../brazil/index.js';
import { Clock, DAY_MS } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import { Database } from '../core/database/index.js';
import { bilingualMail, type Mail, Mailer } from '../core/mail/index.js';
import { moneyText } from '../core/money/index.js';
import { Poller } from '../core/queue/index.js';
import { type NegativeBalance, WalletsService } from '../wallets/index.js';

const SWEEP_MS = 60_000;
const BATCH = 100;

/** Tells merchants that their available balance is below zero: at once, and again every `negative_notice_days`. */
@Injectable()
export class NegativeBalances implements OnApplicationBootstrap {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly wallets: WalletsService,
    private readonly accounts: AccountsService,
    private readonly mailer: Mailer,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.poller.onWorkers('operations.negative_balances', SWEEP_MS, () => this.sweep());
  }

  /** @returns whether there may be more */
  async sweep(): Promise<boolean> {
    const now = this.clock.now();
    return this.database.transaction(async (tx) => {
      const due = await this.wallets.lockNegative(tx, now, BATCH);
      for (const balance of due) {
        const account = await this.accounts.get(balance.accountId, tx);
        const { negativeNoticeDays: days } = account;
        this.mailer.enqueue(tx, this.#mail(account, balance));
        this.wallets.setNegativeNotice(tx, balance, days === 0 ? null : new Date(now.getTime() + days * DAY_MS));
      }
      return due.length === BATCH;
    });
  }

  #mail({ id, contactEmail }: Account, { mode, currency, available, negativeSince }: NegativeBalance): Mail {
    const money = moneyText(available, currency);
    const page = `${this.config.publicBaseUrl}/dashboard/${mode}/balance`;
    return {
      accountId: id,
      to: contactEmail,
      ...bilingualMail({
        mode,
        page,
        subject: `Saldo negativo: ${money} / Negative balance: ${money}`,
        portuguese: [
          `O seu saldo disponível está negativo desde ${saoPauloTime(negativeSince)} (horário de Brasília): ${money}.`,
          'Isto acontece quando uma disputa ou uma tarifa leva dinheiro que já foi usado. As próximas vendas cobrem a diferença; até lá nenhuma devolução pode ser feita.',
          `Extrato: ${page}`,
        ],
        english: [
          `Your available balance is below zero since ${saoPauloTime(negativeSince, 'english')} (Brasília time): ${money}.`,
          'This happens when a dispute or a fee takes money that was spent. The next sales make up for it; until then nothing can be refunded.',
          `Statement: ${page}`,
        ],
      }),
    };
  }
}
