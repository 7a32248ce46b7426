import { saoPauloTime } from '../brazil/index.js';
import { bilingualMail } from '../core/mail/index.js';
import type { Mode } from '../core/mode.js';
import { moneyText } from '../core/money/index.js';
import type { Transaction } from '../transactions/index.js';

/** Sales that a mail lists one by one. */
const MAX_LISTED = 20;

/**
 * The mail about sales that were paid. Mails are kept for a while, so no payer is named.
 * @param hasMore whether more sales than these were paid
 */
export function paidMail(
  sales: readonly Transaction[],
  hasMore: boolean,
  mode: Mode,
  publicBaseUrl: string,
): ReturnType<typeof bilingualMail> {
  const page = `${publicBaseUrl}/dashboard/${mode}/sales`;
  const [first] = sales;
  const sums = sumsOf(sales);
  const listed = sales.slice(0, MAX_LISTED);
  const lines = (language: 'portuguese' | 'english'): string[] =>
    listed.map(({ id, amount, currency, paidAt, updatedAt }) => {
      const at = saoPauloTime(paidAt ?? updatedAt, language);
      return `${at} · ${moneyText(amount, currency)} · ${page}/${id}`;
    });
  const count = `${hasMore ? '+' : ''}${sales.length}`;
  const [portuguese, english] =
    sales.length === 1 && first !== undefined
      ? [`Venda paga: ${sums}`, `Sale paid: ${sums}`]
      : [`${count} vendas pagas: ${sums}`, `${count} sales paid: ${sums}`];
  const rest = hasMore || sales.length > MAX_LISTED;
  return bilingualMail({
    page,
    mode,
    subject: `${portuguese} / ${english.replace(`: ${sums}`, '')}`,
    portuguese: [
      `${portuguese} (horário de Brasília).`,
      ...lines('portuguese'),
      ...(rest ? [`Todas as vendas: ${page}`] : []),
      `Você escolheu este aviso em ${publicBaseUrl}/dashboard/settings.`,
    ],
    english: [
      `${english} (Brasília time).`,
      ...lines('english'),
      ...(rest ? [`All sales: ${page}`] : []),
      `You chose this notice at ${publicBaseUrl}/dashboard/settings.`,
    ],
  });
}

/** Sums the amounts of each currency. */
function sumsOf(sales: readonly Transaction[]): string {
  const sums = new Map<string, number>();
  for (const { amount, currency } of sales) sums.set(currency, (sums.get(currency) ?? 0) + amount);
  return [...sums].map(([currency, amount]) => moneyText(amount, currency)).join(' + ');
}
