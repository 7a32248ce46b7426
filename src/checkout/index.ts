export { LANG, send } from './answers.js';
export { CheckoutModule } from './checkout.module.js';
export { amount, notFoundPage, type Page, page } from './checkout.layout.js';
export type { Language } from './checkout.texts.js';
