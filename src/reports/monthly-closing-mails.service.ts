import { Inject, Injectable } from '@nestjs/common';
import { type AccountEntity, MembersService } from '../accounts/index.js';
import { SAO_PAULO } from '../brazil/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import type { Tx } from '../core/database/index.js';
import { bilingualMail, Mailer } from '../core/mail/index.js';
import { monthText } from './formats/closing.js';

/** Tells the OWNERs of an account about the closing of a month. */
@Injectable()
export class MonthlyClosingMails {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly members: MembersService,
    private readonly mailer: Mailer,
  ) {}

  /** @param month an instant in the closed month */
  async write(tx: Tx, { id: accountId, contactEmail }: AccountEntity, month: Date): Promise<void> {
    const people = await this.members.list(accountId, tx);
    const owners = people.filter(({ role }) => role === 'OWNER').map(({ email }) => email);
    const page = `${this.config.publicBaseUrl}/dashboard/live/reports`;
    const english = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: SAO_PAULO });
    const mail = bilingualMail({
      page,
      mode: 'live',
      subject: `Fechamento de ${monthText(month)} / Closing of ${english.format(month)}`,
      portuguese: [
        `O fechamento de ${monthText(month)} está pronto em instantes: saldo inicial, vendas, tarifas, reembolsos, disputas, saques e saldo final, em PDF e em planilha.`,
        `Para baixar, em até 7 dias: ${page}`,
      ],
      english: [
        `The closing of ${english.format(month)} is ready in a moment: opening balance, sales, fees, refunds, disputes, payouts and closing balance, as a PDF and as a spreadsheet.`,
        `To download it, within 7 days: ${page}`,
      ],
    });
    for (const to of owners.length > 0 ? owners : [contactEmail]) this.mailer.enqueue(tx, { accountId, to, ...mail });
  }
}
