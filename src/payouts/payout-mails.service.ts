import { Inject, Injectable } from '@nestjs/common';
import { AccountsService, type Member, MembersService, type PayoutSchedule, noticesOf } from '../accounts/index.js';
import { saoPauloTime } from '../brazil/index.js';
import { type Config, CONFIG } from '../core/config/index.js';
import type { Tx } from '../core/database/index.js';
import { bilingualMail, Mailer } from '../core/mail/index.js';
import type { Mode, Scope } from '../core/mode.js';
import { type Amount, moneyText } from '../core/money/index.js';
import { plainWords } from '../core/text.js';
import type { PayoutDestination } from './payout-destination.entity.js';
import type { Payout } from './payout.entity.js';
import {
  FAILURE_WORDS,
  LIMIT_WORDS,
  NOT_SENT_WORDS,
  type NotSent,
  receiverWords,
  scheduleWords,
  type Words,
} from './payout-words.js';

/** A mail about an account, before its recipients are known. */
interface Draft {
  readonly accountId: string;
  readonly mode: Mode;
  readonly subject: Words;
  readonly paragraphs: readonly Words[];
  readonly page: string;
  /** The notice that people can switch off; `security` goes to every OWNER in any case. */
  readonly kind: 'payout' | 'security';
}

const NOT_YOURS: Words = {
  portuguese:
    'Se ninguém da sua equipe fez isso, revogue as chaves de API que não conhece, troque as senhas e fale com o operador do serviço.',
  english:
    'If nobody of your team did this, revoke the API keys that you do not know, change the passwords and tell the operator of the service.',
};

/**
 * Mails to people of an account about its payouts, each in the commit of its cause. OWNERs get those about new receivers
 * and schedules. People who may approve get those about approvals. Everybody who wants it gets the end of a payout.
 * Receivers are masked: mails name no whole key and no whole tax id.
 */
@Injectable()
export class PayoutMails {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly accounts: AccountsService,
    private readonly members: MembersService,
    private readonly mailer: Mailer,
  ) {}

  /**
   * A payout waits for a second person, or goes to a receiver that never had money from here.
   * @param isNew whether the receiver is new; in test mode nobody is warned about that
   */
  async opened(tx: Tx, payout: Payout, isNew: boolean): Promise<void> {
    const isNewLive = isNew && payout.mode === 'live';
    const isWaiting = payout.status === 'AWAITING';
    if (!isWaiting && !isNewLive) return;
    const about = this.#about(payout);
    const { page, money, receiver } = about;
    const title = isWaiting
      ? { portuguese: 'Saque aguarda aprovação', english: 'Payout waits for approval' }
      : { portuguese: 'Saque para um destino novo', english: 'Payout to a new destination' };
    const paragraphs: Words[] = [
      {
        portuguese: `Foi pedido um saque de ${money} para ${receiver.portuguese}.`,
        english: `A payout of ${money} to ${receiver.english} was requested.`,
      },
    ];
    if (isWaiting) {
      paragraphs.push({
        portuguese:
          'Uma segunda pessoa precisa aprovar: um Dono ou Administrador que não pediu o saque, não criou a chave de API usada e não aprovou o destino.',
        english:
          'A second person has to approve it: an OWNER or ADMIN who did not request it, issue its API key or approve its destination.',
      });
    }
    if (isNewLive) {
      paragraphs.push({
        portuguese: 'O destino é novo: nenhum saque desta conta chegou lá antes.',
        english: 'The destination is new: no payout of this account arrived there before.',
      });
      if (payout.sendAfter > payout.createdAt) {
        paragraphs.push({
          portuguese: `O dinheiro não sai antes de ${saoPauloTime(payout.sendAfter)} (horário de Brasília). Um Dono pode liberar antes.`,
          english: `The money does not leave before ${saoPauloTime(payout.sendAfter, 'english')} (Brasília time). An OWNER can release it earlier.`,
        });
      }
    }
    paragraphs.push(
      { portuguese: `Aprovar, recusar ou cancelar: ${page}`, english: `Approve, refuse or cancel: ${page}` },
      NOT_YOURS,
    );
    const members = await this.members.list(payout.accountId, tx);
    const mail = { ...about, kind: 'security', paragraphs, subject: withMoney(title, money) } as const;
    const recipients = members.filter(
      (member) =>
        (isNewLive && member.role === 'OWNER') ||
        (isWaiting && member.role !== 'MEMBER' && noticesOf(member).mail.includes('approval')),
    );
    await this.#send(tx, mail, members, recipients);
  }

  /** A second person approved or refused a payout. */
  async decided(tx: Tx, payout: Payout, by: string, isApproved: boolean): Promise<void> {
    const about = this.#about(payout);
    const { page, money, receiver } = about;
    const members = await this.members.list(payout.accountId, tx);
    const member = members.find(({ userId }) => userId === by);
    const name = member === undefined ? '' : ` (${plainWords(member.name)})`;
    const [title, done] = isApproved
      ? [
          { portuguese: 'Saque aprovado', english: 'Payout approved' },
          { portuguese: 'aprovou', english: 'approved' },
        ]
      : [
          { portuguese: 'Saque recusado', english: 'Payout refused' },
          { portuguese: 'recusou', english: 'refused' },
        ];
    const paragraphs: Words[] = [
      {
        portuguese: `Uma segunda pessoa${name} ${done.portuguese} o saque de ${money} para ${receiver.portuguese}.`,
        english: `A second person${name} ${done.english} the payout of ${money} to ${receiver.english}.`,
      },
      ...(isApproved
        ? []
        : [{ portuguese: 'O valor voltou ao saldo disponível.', english: 'The amount is available again.' }]),
      { portuguese: `Saque: ${page}`, english: `Payout: ${page}` },
    ];
    await this.#send(tx, { ...about, kind: 'payout', paragraphs, subject: withMoney(title, money) }, members);
  }

  /** A payout failed, and its money is available again. */
  async failed(tx: Tx, payout: Payout): Promise<void> {
    if (payout.failure === null) return;
    const about = this.#about(payout);
    const { page, money, receiver } = about;
    await this.#send(tx, {
      ...about,
      kind: 'payout',
      subject: withMoney({ portuguese: 'Saque não realizado', english: 'Payout failed' }, money),
      paragraphs: [
        {
          portuguese: `O saque de ${money} para ${receiver.portuguese} não foi realizado.`,
          english: `The payout of ${money} to ${receiver.english} failed.`,
        },
        FAILURE_WORDS[payout.failure],
        { portuguese: 'O valor voltou ao saldo disponível.', english: 'The amount is available again.' },
        { portuguese: `Saque: ${page}`, english: `Payout: ${page}` },
      ],
    });
  }

  /** @param amount the part that came back */
  async returned(tx: Tx, payout: Payout, amount: Amount): Promise<void> {
    const about = this.#about(payout);
    const { page, money, receiver } = about;
    const back = moneyText(amount, payout.currency);
    await this.#send(tx, {
      ...about,
      kind: 'payout',
      subject: withMoney({ portuguese: 'Saque devolvido', english: 'Payout came back' }, back),
      paragraphs: [
        {
          portuguese: `Voltaram ${back} do saque de ${money} para ${receiver.portuguese}, já no saldo disponível.`,
          english: `${back} of the payout of ${money} to ${receiver.english} came back and is available again.`,
        },
        {
          portuguese: 'Confira o destino com quem recebe antes de enviar de novo.',
          english: 'Check the destination with its holder before you send again.',
        },
        { portuguese: `Saque: ${page}`, english: `Payout: ${page}` },
      ],
    });
  }

  /** A receiver was saved. In test mode nobody is told. */
  async destinationSaved(tx: Tx, destination: PayoutDestination): Promise<void> {
    const { accountId, mode, shown } = destination;
    if (mode !== 'live') return;
    const receiver = receiverWords(shown);
    const page = this.#page(mode, 'destinations');
    await this.#send(tx, {
      ...{ accountId, mode, page, kind: 'security' },
      subject: { portuguese: 'Novo destino de saques', english: 'New payout destination' },
      paragraphs: [
        {
          portuguese: `Foi salvo um novo destino de saques: ${receiver.portuguese}.`,
          english: `A new payout destination was saved: ${receiver.english}.`,
        },
        { portuguese: `Destinos: ${page}`, english: `Destinations: ${page}` },
        NOT_YOURS,
      ],
    });
  }

  /**
   * @param destination of the schedule, or of the removed one
   * @param schedule null: it was removed
   */
  async scheduleChanged(tx: Tx, destination: PayoutDestination, schedule: PayoutSchedule | null): Promise<void> {
    const { accountId, mode, shown } = destination;
    const page = this.#page(mode, 'schedule');
    await this.#send(tx, {
      ...{ accountId, mode, page, kind: 'security' },
      subject:
        schedule === null
          ? { portuguese: 'Programação de saques desligada', english: 'Payout schedule switched off' }
          : { portuguese: 'Programação de saques alterada', english: 'Payout schedule changed' },
      paragraphs: [
        schedule === null
          ? {
              portuguese: 'A programação de saques da conta foi desligada: nada mais é enviado por ela.',
              english: 'The payout schedule of the account was switched off: it sends nothing any more.',
            }
          : scheduleWords(schedule, receiverWords(shown)),
        { portuguese: `Programação: ${page}`, english: `Schedule: ${page}` },
        NOT_YOURS,
      ],
    });
  }

  /** An occurrence of the schedule sent nothing. */
  async notSent(tx: Tx, { accountId, mode }: Scope, occurrence: Date, reason: NotSent): Promise<void> {
    const page = this.#page(mode, 'schedule');
    await this.#send(tx, {
      ...{ accountId, mode, page, kind: 'payout' },
      subject: { portuguese: 'Saque programado não enviado', english: 'Scheduled payout not sent' },
      paragraphs: [
        {
          portuguese: `O saque programado para ${saoPauloTime(occurrence)} (horário de Brasília) não foi enviado.`,
          english: `The payout scheduled for ${saoPauloTime(occurrence, 'english')} (Brasília time) was not sent.`,
        },
        NOT_SENT_WORDS[reason],
        {
          portuguese: 'O dinheiro continua no saldo disponível, e a programação continua no próximo dia dela.',
          english: 'The money stays available, and the schedule goes on at its next time.',
        },
        { portuguese: `Programação: ${page}`, english: `Schedule: ${page}` },
      ],
    });
  }

  /** A limit made a payout of the schedule smaller. @param wanted the amount without that limit */
  async limited(tx: Tx, payout: Payout, wanted: Amount, limit: keyof typeof LIMIT_WORDS): Promise<void> {
    const about = this.#about(payout);
    const { page, money } = about;
    const whole = moneyText(wanted, payout.currency);
    const words = LIMIT_WORDS[limit];
    await this.#send(tx, {
      ...about,
      kind: 'payout',
      subject: withMoney({ portuguese: 'Saque programado em parte', english: 'Scheduled payout in part' }, money),
      paragraphs: [
        {
          portuguese: `A programação enviaria ${whole}, e o ${words.portuguese} da conta só permite ${money} agora: foi pedido um saque de ${money}.`,
          english: `The schedule would send ${whole}, and the account’s ${words.english} allows ${money} now: a payout of ${money} was requested.`,
        },
        {
          portuguese: 'O resto continua no saldo disponível e sai nas próximas vezes.',
          english: 'The rest stays available and leaves at the next times.',
        },
        { portuguese: `Saque: ${page}`, english: `Payout: ${page}` },
      ],
    });
  }

  #about({ id, accountId, mode, amount, currency, shown }: Payout): {
    readonly accountId: string;
    readonly mode: Mode;
    readonly page: string;
    readonly money: string;
    readonly receiver: Words;
  } {
    return {
      accountId,
      mode,
      page: this.#page(mode, `po_${id}`),
      money: moneyText(amount, currency),
      receiver: receiverWords(shown),
    };
  }

  #page(mode: Mode, path: string): string {
    return `${this.config.publicBaseUrl}/dashboard/${mode}/payouts/${path}`;
  }

  /** Writes to the recipients, or to the account's contact while nobody has accepted to be an OWNER. */
  async #send(
    tx: Tx,
    { accountId, mode, page, subject, paragraphs, kind }: Draft,
    members?: readonly Member[],
    chosen?: readonly Member[],
  ): Promise<void> {
    const people = members ?? (await this.members.list(accountId, tx));
    const wanting = people.filter((one) =>
      kind === 'security' ? one.role === 'OWNER' : noticesOf(one).mail.includes(kind),
    );
    const recipients = (chosen ?? wanting).map(({ email }) => email);
    if (!people.some(({ role }) => role === 'OWNER'))
      recipients.push((await this.accounts.get(accountId, tx)).contactEmail);
    const mail = bilingualMail({
      mode,
      page,
      subject: `${subject.portuguese} / ${subject.english}`,
      portuguese: paragraphs.map(({ portuguese }) => portuguese),
      english: paragraphs.map(({ english }) => english),
    });
    for (const to of new Set(recipients)) this.mailer.enqueue(tx, { accountId, to, ...mail });
  }
}

function withMoney({ portuguese, english }: Words, money: string): Words {
  return { portuguese: `${portuguese}: ${money}`, english: `${english}: ${money}` };
}
