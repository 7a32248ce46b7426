import { Injectable } from '@nestjs/common';
import {
  type BookedPix,
  type BookedReturn,
  type ChargedOperation,
  type EnteredFees,
  InternalRecordsRepository,
} from './internal-records.repository.js';

/** Fits into a statement's parameters and an index scan. */
const CHUNK = 1_000;

/** The service's own books of an acquirer's Pix, to be held against the acquirer's. Across accounts. */
@Injectable()
export class InternalRecordsService {
  constructor(private readonly records: InternalRecordsRepository) {}

  /** What the acquirer settled in a time, by its clock: `from` included, `to` not. */
  settled(acquirer: string, from: Date, to: Date): Promise<BookedPix[]> {
    return this.records.ofTime(acquirer, from, to);
  }

  /** What an acquirer has done for its fees, by the bank's clock what came and by ours what went back: `to` not included. */
  charged(acquirer: string, accountId: string, from: Date, to: Date): Promise<ChargedOperation[]> {
    return this.records.charged(acquirer, accountId, from, to);
  }

  /** Fees of a month's invoice that operators have entered. */
  enteredFees(acquirer: string, month: string): Promise<EnteredFees> {
    return this.records.enteredFees(acquirer, month);
  }

  /** Those of these Pix that were settled here. */
  async known(acquirer: string, endToEndIds: readonly string[]): Promise<BookedPix[]> {
    return inChunks(endToEndIds, (ids) => this.records.ofIds(acquirer, ids));
  }

  /** What was asked to go back of these Pix. */
  async returns(acquirer: string, endToEndIds: readonly string[]): Promise<BookedReturn[]> {
    return inChunks(endToEndIds, (ids) => this.records.returns(acquirer, ids));
  }
}

async function inChunks<T>(ids: readonly string[], read: (ids: readonly string[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) found.push(...(await read(ids.slice(at, at + CHUNK))));
  return found;
}
