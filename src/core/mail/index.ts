export { bilingualMail, utcTime } from './bilingual.js';
export { EmailsRepository, type Mail, SECRET } from './emails.repository.js';
export { createMailTransport, MailTransport } from './mail-transport.js';
export { MAIL_WORK, MailDelivery } from './mail-delivery.js';
export { MailProcessor } from './mail.processor.js';
export { mailboxOf } from './mailbox.js';
export { Mailer } from './mailer.js';
