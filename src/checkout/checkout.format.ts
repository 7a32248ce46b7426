import { SAO_PAULO } from '../brazil/index.js';
import type { Amount } from '../core/money/index.js';

const REAIS = new Intl.NumberFormat('pt-BR', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const DAY = new Intl.DateTimeFormat('pt-BR', { timeZone: SAO_PAULO, day: 'numeric', month: 'long', year: 'numeric' });
const TIME = new Intl.DateTimeFormat('pt-BR', { timeZone: SAO_PAULO, hour: '2-digit', minute: '2-digit' });

/**
 * Cents as `R$ 1.234,56`. Written with an ordinary space, where Intl's currency style has a no-break one, so that a
 * payer who searches the page or pastes the amount elsewhere finds what is typed on a keyboard.
 */
export function formatBrl(amount: Amount): string {
  return `R$ ${REAIS.format(amount / 100)}`;
}

/** `9 de março de 2026 às 15:30` (the hour kept on one line), in São Paulo's time whatever the server's zone is. */
export function formatWhen(at: Date): string {
  return `${DAY.format(at)} às\u00a0${TIME.format(at)}`;
}
