import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../core/clock.js';
import { type Config, CONFIG } from '../core/config/index.js';
import type { Tx } from '../core/database/index.js';
import { bilingualMail, Mailer, SECRET, utcTime } from '../core/mail/index.js';
import { plainWords } from '../core/text.js';

export type PersonNews =
  'password_changed' | 'totp_set' | 'totp_removed' | 'logins_failed' | 'codes_failed' | 'decisions_failed';

/** Mails to people about their login and their account, each sent if and only if `tx` commits. */
@Injectable()
export class PersonMails {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly mailer: Mailer,
    private readonly clock: Clock,
  ) {}

  /** The recipient chooses a password with the token, which is in this mail only. */
  invitation(
    tx: Tx,
    invitation: { accountId: string; email: string; token: string; expiresAt: Date },
    accountName: string,
  ): void {
    const { accountId, email, token, expiresAt } = invitation;
    const page = `${this.config.publicBaseUrl}/dashboard/invitation`;
    this.mailer.enqueue(tx, {
      accountId,
      to: email,
      secret: token,
      ...bilingualMail({
        page,
        subject: 'Convite para uma conta / Invitation to an account',
        portuguese: [
          `Você foi convidado para a conta ${plainWords(accountName)}.`,
          `Para aceitar, escolha uma senha em ${page}#${SECRET}`,
          `Token: ${SECRET}`,
          `O convite vale até ${utcTime(expiresAt)} e só uma vez. Quem já entra em outra conta com este e-mail não pode aceitá-lo. Se você não esperava este convite, ignore esta mensagem.`,
        ],
        english: [
          `You are invited to the account ${plainWords(accountName)}.`,
          `To accept, choose a password at ${page}#${SECRET}`,
          `Token: ${SECRET}`,
          `The invitation works until ${utcTime(expiresAt)}, once. Who logs in to another account with this e-mail already cannot accept it. If you did not expect it, ignore this message.`,
        ],
      }),
    });
  }

  /** The mail with the token by which somebody who has forgotten the password sets a new one. */
  passwordReset(tx: Tx, to: string, token: string, expiresAt: Date): void {
    const page = `${this.config.publicBaseUrl}/dashboard/reset-password`;
    this.mailer.enqueue(tx, {
      accountId: null,
      to,
      secret: token,
      ...bilingualMail({
        page,
        subject: 'Redefinir a senha / Reset your password',
        portuguese: [
          'Alguém pediu uma nova senha para este e-mail.',
          `Para escolhê-la: ${page}#${SECRET}`,
          `Token: ${SECRET}`,
          `Vale até ${utcTime(expiresAt)} e só uma vez. Se não foi você, ignore esta mensagem: a senha continua a mesma.`,
        ],
        english: [
          'Somebody asked for a new password for this e-mail.',
          `To choose it: ${page}#${SECRET}`,
          `Token: ${SECRET}`,
          `It works until ${utcTime(expiresAt)}, once. If it was not you, ignore this message: the password stays as it is.`,
        ],
      }),
    });
  }

  /** Writes to the address that the account had until now, as an intruder who has changed it does not read that mailbox. */
  contactChanged(tx: Tx, account: { id: string; name: string; contactEmail: string }): void {
    const at = this.clock.now();
    this.mailer.enqueue(tx, {
      accountId: account.id,
      to: account.contactEmail,
      ...bilingualMail({
        subject: 'E-mail da conta alterado / Account e-mail changed',
        portuguese: [
          `A conta ${plainWords(account.name)} passou a ser avisada em outro e-mail. (${utcTime(at)})`,
          'Avisos de disputas e de webhooks não chegam mais aqui. Se ninguém da sua equipe fez isso, fale com o operador do serviço.',
        ],
        english: [
          `The account ${plainWords(account.name)} is written to at another e-mail now. (${utcTime(at)})`,
          'Notices of disputes and webhooks do not come here any more. If nobody of your team did this, tell the operator of the service.',
        ],
      }),
    });
  }

  /** Tells a person what happened to their login, so that they notice what they did not do themselves. */
  news(tx: Tx, to: string, news: PersonNews): void {
    const at = this.clock.now();
    const { subject, portuguese, english } = NEWS[news];
    this.mailer.enqueue(tx, {
      accountId: null,
      to,
      ...bilingualMail({
        subject,
        portuguese: [
          `${portuguese} (${utcTime(at)})`,
          'Se não foi você, troque a senha e fale com o operador do serviço.',
        ],
        english: [
          `${english} (${utcTime(at)})`,
          'If it was not you, change the password and tell the operator of the service.',
        ],
      }),
    });
  }
}

const NEWS: Readonly<Record<PersonNews, { subject: string; portuguese: string; english: string }>> = {
  password_changed: {
    subject: 'Senha alterada / Password changed',
    portuguese: 'A sua senha foi alterada.',
    english: 'Your password was changed.',
  },
  totp_set: {
    subject: 'Segundo fator ativado / Second factor set',
    portuguese: 'O seu login agora pede um código de uso único.',
    english: 'Your login now needs a one-time code.',
  },
  totp_removed: {
    subject: 'Segundo fator removido / Second factor removed',
    portuguese: 'O seu login não pede mais um código de uso único.',
    english: 'Your login does not need a one-time code any more.',
  },
  logins_failed: {
    subject: 'Muitos logins recusados / Many failed logins',
    portuguese:
      'Muitas tentativas de login com o seu e-mail foram recusadas. Novas tentativas demoram mais; o seu login não foi bloqueado.',
    english: 'Many logins with your e-mail have failed. Further ones take longer; your login is not locked.',
  },
  codes_failed: {
    subject: 'Muitos códigos errados / Many wrong codes',
    portuguese: 'Alguém digitou a sua senha e muitos códigos errados. Se não foi você, mude a sua senha agora.',
    english: 'Somebody has entered your password and many wrong codes. If that was not you, change your password now.',
  },
  decisions_failed: {
    subject: 'Muitos códigos errados / Many wrong codes',
    portuguese:
      'Alguém que entrou com o seu login digitou muitos códigos errados para decidir sobre um saque. Por 15 minutos nenhum código é aceito ali. Se não foi você, mude a sua senha agora: isso encerra as sessões.',
    english:
      'Somebody logged in as you has entered many wrong codes to decide about a payout. No code is taken there for 15 minutes. If that was not you, change your password now: this ends the sessions.',
  },
};
