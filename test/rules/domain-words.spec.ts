import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { readSources, ROOT } from './source-files.js';

const WORDS =
  /(?<![a-z])(?:acquirers?|boletos?|charges?|checkouts?|customers?|disputed?s?|med|payers?|payments?|payouts?|pix|refund(?:s|ed)?|settlements?|wallets?)(?![a-z])/g;

/** Files with the words that they may contain, each with the reason. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  // The settings of all contexts are listed and checked in one file.
  'src/core/config/config.ts': ['charge', 'med'],
  // Texts of the public interface that all routes share.
  'src/core/errors/api-error.ts': ['acquirer'],
  'src/core/http/openapi.ts': ['customer'],
  // The table's name is older than its use for all hashes.
  'src/core/hash-keys/hash-key.entity.ts': ['payout'],
  'src/core/hash-keys/hash-keys.repository.ts': ['payout'],
  'src/core/hash-keys/hash-keys.ts': ['payout'],
  // A feature of browsers.
  'src/core/http/browser-headers.ts': ['payment'],
  // Proposes payments to those who mean charges.
  'src/core/http/near-route.ts': ['charges', 'payments'],
  // Logs redact the field of any context.
  'src/core/log/logger.ts': ['customer'],
  // Why the table needs no erasure.
  'src/core/mail/email.entity.ts': ['payers'],
  // All metrics are listed in one file, as docs/operations.md lists them.
  'src/core/metrics/metrics.ts': ['acquirer', 'acquirers', 'charge', 'payout', 'payouts'],
  // The queues in the order in which operators see them.
  'src/core/operator-queues.ts': ['med', 'payouts'],
  // The table has a column of this name.
  'src/outbox/event.entity.ts': ['customer'],
  'src/outbox/outbox.repository.ts': ['customer'],
};

/** Lists the domain words in a file's code, alone or within a name. Comments may give examples. */
function domainWords(text: string): string[] {
  const source = ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true);
  const code = ts.createPrinter({ removeComments: true }).printFile(source);
  const words = code.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return [...new Set([...words.matchAll(WORDS)].map(([word]) => word))].sort();
}

describe('domain words in core and outbox', () => {
  it('occur only with a reason, and no reason is out of date', () => {
    const found = readSources('src/core', 'src/outbox')
      .filter(({ path }) => !path.endsWith('.spec.ts'))
      .map(({ path }) => [path, domainWords(readFileSync(join(ROOT, path), 'utf8'))] as const)
      .filter(([, words]) => words.length > 0);
    expect(Object.fromEntries(found)).toEqual(ALLOWED);
  });

  it('are found in names and texts, and not in comments', () => {
    const text = `/** A payer's refund. */ const customerSealed = 'acquirer_callbacks'; // a payment
      metadata.medium = recharge.allSettled;`;
    expect(domainWords(text)).toEqual(['acquirer', 'customer']);
  });
});
