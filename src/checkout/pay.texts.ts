import type { Language, Widened } from './checkout.texts.js';

/** Texts of a payment link's pages, beside those of the checkout; `{merchant}` stands for the merchant's name. */
const pt = {
  notFound: 'Link não encontrado',
  notFoundNote: 'Confira se o endereço está completo ou peça um novo link a quem o enviou.',
  payTo: 'Pagamento para',
  fields: {
    amount: 'Valor em reais',
    name: 'Nome completo',
    tax_id: 'CPF ou CNPJ',
    email: 'E-mail',
    phone: 'Celular com DDD',
  },
  between: (least: string, most: string) => `De ${least} a ${most}`,
  atLeast: (least: string) => `A partir de ${least}`,
  atMost: (most: string) => `Até ${most}`,
  submit: 'Pagar com Pix',
  next: 'Na próxima tela aparecem o QR Code e o código Pix.',
  wrong: 'Confira os campos marcados.',
  errors: {
    amount: 'Informe um valor dentro do limite, como 50,00.',
    name: 'Informe o nome completo.',
    tax_id: 'Informe um CPF ou CNPJ válido.',
    email: 'Informe um e-mail válido.',
    phone: 'Informe um número com DDD.',
    answer: 'Responda em até 500 caracteres.',
  },
  tryAgain: 'Não foi possível gerar o Pix agora. Tente de novo em instantes.',
  closed: {
    ended: ['Este link foi encerrado', 'Ele não recebe mais pagamentos. Em caso de dúvida, fale com {merchant}.'],
    full: ['Este link já recebeu todos os pagamentos', 'Em caso de dúvida, fale com {merchant}.'],
    expired: ['O prazo deste link terminou', 'Peça um novo link a {merchant}.'],
  },
  refused: 'Não é possível pagar por este link agora',
  refusedNote: 'Nenhuma cobrança foi feita. Fale com {merchant}.',
  foreign: 'Abra o link de novo',
  foreignNote: 'O pedido não veio da página deste link. Nenhuma cobrança foi feita.',
  pointCamera: 'Aponte a câmera do celular para o código e pague com Pix',
  qrOf: (name: string) => `QR Code que abre a página de pagamento de ${name}`,
} as const;

const en: PayWording = {
  notFound: 'Link not found',
  notFoundNote: 'Check that the address is complete, or ask whoever sent the link for a new one.',
  payTo: 'Payment to',
  fields: {
    amount: 'Amount in reais',
    name: 'Full name',
    tax_id: 'CPF or CNPJ',
    email: 'E-mail',
    phone: 'Mobile number with area code',
  },
  between: (least, most) => `From ${least} to ${most}`,
  atLeast: (least) => `${least} or more`,
  atMost: (most) => `Up to ${most}`,
  submit: 'Pay with Pix',
  next: 'The next screen shows the QR code and the Pix code.',
  wrong: 'Check the marked fields.',
  errors: {
    amount: 'Enter an amount within the limits, such as 50.00.',
    name: 'Enter your full name.',
    tax_id: 'Enter a valid CPF or CNPJ.',
    email: 'Enter a valid e-mail.',
    phone: 'Enter a number with its area code.',
    answer: 'Answer in at most 500 characters.',
  },
  tryAgain: 'The Pix could not be made just now. Try again in a moment.',
  closed: {
    ended: ['This link has ended', 'It takes no more payments. If in doubt, talk to {merchant}.'],
    full: ['This link has received all its payments', 'If in doubt, talk to {merchant}.'],
    expired: ['The deadline of this link is over', 'Ask {merchant} for a new link.'],
  },
  refused: 'This link cannot be paid right now',
  refusedNote: 'No charge was made. Talk to {merchant}.',
  foreign: 'Open the link again',
  foreignNote: 'The request did not come from the page of this link. No charge was made.',
  pointCamera: 'Point your phone’s camera at the code and pay with Pix',
  qrOf: (name) => `QR code that opens the payment page of ${name}`,
};

export type PayWording = { readonly [K in keyof typeof pt]: Widened<(typeof pt)[K]> };

export const PAY_TEXTS: Readonly<Record<Language, PayWording>> = { pt, en };
