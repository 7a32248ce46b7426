/** Test and live are separate worlds inside an account (docs/contract.md#modes). */
export type Mode = 'test' | 'live';

/** The owner of data: every query of a merchant's request carries account and mode. */
export interface Scope {
  readonly accountId: string;
  readonly mode: Mode;
}
