import type { PaymentLinkBody } from '../../src/payment-links/dto/payment-link.body.js';
import { dateTime, type Language, money, type Translate } from './format.js';
import { inWords } from './words.js';

export const LINK_STATUSES = ['active', 'ended'] as const;

export const linkStatus = inWords((t) => ({
  active: t('Ativo', 'Active'),
  ended: t('Encerrado', 'Ended'),
  full: t('Esgotado', 'Sold out'),
  expired: t('Expirado', 'Expired'),
}));

/** The status of a link, or why it takes no more payments. */
export function linkState({ status, ended_reason }: PaymentLinkBody, t: Translate): string {
  return linkStatus(ended_reason ?? status, t);
}

export const ASKABLE = ['name', 'tax_id', 'email', 'phone'] as const;

export const asked = inWords((t) => ({
  name: t('Nome completo', 'Full name'),
  tax_id: t('CPF ou CNPJ', 'CPF or CNPJ'),
  email: 'E-mail',
  phone: t('Celular', 'Mobile number'),
}));

/** The price, or the bounds between which the payer chooses. */
export function linkPrice(
  { amount, amount_min: least, amount_max: most }: PaymentLinkBody,
  t: Translate,
  language: Language,
): string {
  const text = (cents: number): string => money(cents, 'BRL', language);
  if (amount !== null) return text(amount);
  if (least !== null && most !== null)
    return t(`De ${text(least)} a ${text(most)}`, `From ${text(least)} to ${text(most)}`);
  if (least !== null) return t(`A partir de ${text(least)}`, `From ${text(least)}`);
  if (most !== null) return t(`Até ${text(most)}`, `Up to ${text(most)}`);
  return t('Quem paga escolhe', 'The payer chooses');
}

/** How often a link was paid, of how many times. */
export function paidTimes({ paid_count: paid, max_payments: most }: PaymentLinkBody, t: Translate): string {
  return most === null ? String(paid) : t(`${String(paid)} de ${String(most)}`, `${String(paid)} of ${String(most)}`);
}

export function linkEnd({ expires_at: at }: PaymentLinkBody, t: Translate, language: Language): string {
  return at === null ? t('Sem prazo', 'No deadline') : dateTime(at, language);
}

/** The link's page on the host of the dashboard, which may show its pictures. */
export function pagePath({ url }: Pick<PaymentLinkBody, 'url'>): string {
  return `/pay/${url.split('/').at(-1) ?? ''}`;
}
