import { createHash } from 'node:crypto';
import { moneyText } from '../core/money/index.js';
import { type Html, markup, trusted } from '../core/http/index.js';
import { isOpen, type Transaction } from '../transactions/index.js';

const STYLES = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
strong{font-size:1.6rem;display:block;margin:.5rem 0 1.5rem}form{display:inline}
button{font:inherit;padding:.6rem 1.4rem;margin-right:.5rem;border:1px solid #1a1a1a;border-radius:.4rem;background:#fff;cursor:pointer}
button.approve{background:#1a1a1a;color:#fff}`;

/**
 * Security headers: no script runs. `form-action` stays open, because browsers apply it to the redirect after the form
 * too, which leads to the merchant.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'; base-uri 'none'; frame-ancestors 'none'`,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cache-Control': 'no-store',
};

const OUTCOMES: Partial<Record<Transaction['status'], string>> = {
  APPROVED: 'Pagamento aprovado.',
  REFUSED: 'Pagamento recusado.',
  EXPIRED: 'O prazo para pagar terminou.',
  CANCELLED: 'A cobrança foi cancelada.',
};

/** The page of the simulated card issuer: its visitor approves or refuses. */
export function cardPage(transaction: Transaction, merchant: string): string {
  const button = (action: string, label: string): Html =>
    markup`<form method="post" action="/sandbox/cards/${transaction.txid}/${action}"><button class="${action}">${label}</button></form>`;
  const body = isOpen(transaction)
    ? markup`${button('approve', 'Aprovar')}${button('refuse', 'Recusar')}`
    : markup`<p>${OUTCOMES[transaction.status] ?? 'Este pagamento já terminou.'}</p>`;
  return markup`<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><title>Cartão de teste</title><meta name="viewport" content="width=device-width, initial-scale=1"><style>${trusted(STYLES)}</style></head><body><h1>Cartão de teste</h1><p>Ambiente de testes: nenhum dinheiro é movido. Escolha o que o banco emissor responde a <b>${merchant}</b>.</p><strong>${moneyText(transaction.amount, transaction.currency)}</strong>${body}</body></html>`
    .text;
}
