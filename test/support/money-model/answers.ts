import { ApiError } from '../../../src/core/errors/index.js';

/** Turns a call's result into an answer: a status, with the code of a refusal. */
export async function outcomeOf(work: Promise<unknown>, made: number): Promise<number | string> {
  try {
    await work;
    return made;
  } catch (error) {
    if (error instanceof ApiError) return `${String(error.status)} ${error.code}`;
    throw error;
  }
}
