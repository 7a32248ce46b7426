import type { Amount } from '../core/money/index.js';

const REAIS = new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/**
 * Cents as `R$ 1.234,56`. Written with an ordinary space, where Intl's currency style has a no-break one, so that a
 * payer who searches the page or pastes the amount elsewhere finds what is typed on a keyboard.
 */
export function formatBrl(amount: Amount): string {
  return `R$ ${REAIS.format(amount / 100)}`;
}
