import { escapeHtml } from '../http/index.js';
import type { Mode } from '../mode.js';

/** The content of a mail in Portuguese and in English. */
export interface Bilingual {
  /** Both languages. */
  readonly subject: string;
  /** Paragraphs of plain text; they may contain words of a stranger. */
  readonly portuguese: readonly string[];
  readonly english: readonly string[];
  /** A page of the service. No other address becomes a link, as a stranger may have written it. */
  readonly page?: string;
  /** The mode of the mail's subject; a mail about test mode says so first. */
  readonly mode?: Mode;
}

const TEST = {
  portuguese: 'TESTE: isto aconteceu no modo de teste; nenhum dinheiro se moveu.',
  english: 'TEST: this happened in test mode; no money has moved.',
};

/** No colours, so that a dark mailbox uses its own; long addresses break on a phone. */
const STYLE = 'max-width:600px;margin:0 auto;padding:16px;font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere';

export function bilingualMail({ mode, page, ...mail }: Bilingual): {
  subject: string;
  text: string;
  html: string;
  isTest: boolean;
} {
  const isTest = mode === 'test';
  const subject = isTest ? `TESTE: ${mail.subject}` : mail.subject;
  const [portuguese, english] = isTest
    ? [
        [TEST.portuguese, ...mail.portuguese],
        [TEST.english, ...mail.english],
      ]
    : [mail.portuguese, mail.english];
  const html = (lines: readonly string[]): string => lines.map((line) => `<p>${linked(line, page)}</p>`).join('\n');
  return {
    subject,
    isTest,
    text: `${portuguese.join('\n\n')}\n\n---\n\n${english.join('\n\n')}\n`,
    html: `<div style="${STYLE}">\n<div lang="pt-BR">\n${html(portuguese)}\n</div>\n<hr>\n<div lang="en">\n${html(english)}\n</div>\n</div>\n`,
  };
}

/** Makes a link of the page's address: some mailboxes do so by themselves, and some do not. */
function linked(line: string, page: string | undefined): string {
  return line
    .split(' ')
    .map((word) => {
      const text = escapeHtml(word);
      return page !== undefined && word.startsWith(page) ? `<a style="color:inherit" href="${text}">${text}</a>` : text;
    })
    .join(' ');
}

/** Formats a time to the minute in UTC, since the reader's time zone is unknown. */
export function utcTime(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
