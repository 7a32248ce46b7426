import { amount, type Language, type Page, page } from '../checkout/index.js';
import { moneyText } from '../core/money/index.js';
import { type Html, markup } from '../core/http/index.js';
import { isOpen, type Transaction } from '../transactions/index.js';
import type { CardPayment } from './sandbox-pages.service.js';

const pt = {
  title: 'Cartão de teste',
  note: 'Nenhum dinheiro é movido. Escolha o que o banco emissor responde.',
  to: 'Pagamento para',
  approve: 'Aprovar',
  refuse: 'Recusar',
  over: 'Este pagamento já terminou.',
  outcomes: {
    APPROVED: 'Pagamento aprovado.',
    REFUSED: 'Pagamento recusado.',
    EXPIRED: 'O prazo para pagar terminou.',
    CANCELLED: 'A cobrança foi cancelada.',
  } as Partial<Record<Transaction['status'], string>>,
};

const en: typeof pt = {
  title: 'Test card',
  note: 'No money is moved. Choose what the issuing bank answers.',
  to: 'Payment to',
  approve: 'Approve',
  refuse: 'Refuse',
  over: 'This payment is over.',
  outcomes: {
    APPROVED: 'Payment approved.',
    REFUSED: 'Payment refused.',
    EXPIRED: 'The time to pay is over.',
    CANCELLED: 'The charge was cancelled.',
  },
};

/** The page of the simulated card issuer, where the visitor approves or refuses. No script runs. */
export function cardPage({ transaction, account }: CardPayment, language: Language): Page {
  const words = { pt, en }[language];
  const { id, txid, currency } = transaction;
  const button = (action: string, label: string, look: string): Html =>
    markup`<form method="post" action="${txid}/${action}"><button class="${look}">${label}</button></form>`;
  const brand = { merchant: account.name, accent: account.accent, hasLogo: account.logo !== null, test: true };
  const made = page(language, brand, {
    title: words.title,
    main: markup`<main>
<h1><span class="to">${words.to} <bdi>${account.name}</bdi></span> ${amount(moneyText(transaction.amount, currency))}</h1>
<h2 class="sold">${words.title}</h2>
${
  isOpen(transaction)
    ? markup`<p class="note">${words.note}</p>
${button('approve', words.approve, '')}${button('refuse', words.refuse, 'second')}`
    : markup`<p class="note">${words.outcomes[transaction.status] ?? words.over}</p>`
}
</main>`,
    logo: `../../checkout/${id}/logo`,
    live: false,
  });
  return { ...made, forms: 'anywhere' };
}
