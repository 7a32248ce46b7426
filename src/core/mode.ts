/** Test and live are separate worlds inside an account (docs/contract.md#modes). */
export type Mode = 'test' | 'live';

/** Whose data: every query of a merchant's request carries both. */
export interface Scope {
  readonly accountId: string;
  readonly mode: Mode;
}
