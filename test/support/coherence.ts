import { expect } from '@jest/globals';
import { brokenPromises } from '../../tools/harness/coherence.js';

/** Runs after every test that touches money. @param url of the database */
export async function expectLedgerCoherent(url: string): Promise<void> {
  expect(await brokenPromises(url)).toEqual({});
}
