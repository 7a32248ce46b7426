import { type ApiError, invalidRequest, type Violation } from './api-error.js';

/** Result of a DTO's rules. */
export interface Findings<T> {
  /** The request without the fields that broke a rule. */
  readonly sound: Partial<T>;
  /** Names of the DTO's fields in its order; `ofFields` has the same order. */
  readonly fields: readonly string[];
  readonly ofFields: readonly Violation[];
  /** Violations of the body itself, like unknown fields; they come last. */
  readonly ofBody: readonly Violation[];
  /** Number of further violations that are not listed. */
  readonly unnamed: number;
}

/**
 * A request as far as its DTO can judge it. A service may have rules that need more than the DTO knows: the mode, the
 * configuration, a name server. Such rules check the sound part, and one answer lists the violations of both.
 */
export class Draft<T extends object> {
  readonly #whole: T;
  readonly #findings: Findings<T>;

  /** @param findings left out for a request that the service makes itself, which keeps the rules */
  constructor(whole: T, findings: Findings<T> = { sound: whole, fields: [], ofFields: [], ofBody: [], unnamed: 0 }) {
    this.#whole = whole;
    this.#findings = findings;
  }

  /** Returns the request without the fields that broke a rule of the DTO, as if they had not been sent. */
  get sound(): Partial<T> {
    return this.#findings.sound;
  }

  /**
   * Returns the whole request; there is no other way to it.
   * @param more violations of further rules; ignored for fields that the DTO refused, which these rules could not see
   * @throws ApiError 400 with every violation
   */
  accept(more: readonly Violation[] = []): T {
    if (more.length > 0 || this.#isRefused) throw this.refusal(more);
    return this.#whole;
  }

  /** Returns the 400 with every violation: of fields in the DTO's order, then of the body. */
  refusal(more: readonly Violation[]): ApiError {
    const { fields, ofFields, ofBody, unnamed } = this.#findings;
    const isNew = ({ param }: Violation): boolean =>
      ![...ofFields, ...ofBody].some((earlier) => param === earlier.param || param.startsWith(`${earlier.param}.`));
    const place = ({ param }: Violation): number => fields.findIndex((field) => field === param.split('.', 1)[0]);
    const all = [...ofFields, ...more.filter(isNew)].sort((one, other) => place(one) - place(other));
    return invalidRequest([...all, ...ofBody], unnamed);
  }

  get #isRefused(): boolean {
    return this.#findings.ofFields.length > 0 || this.#findings.ofBody.length > 0;
  }
}
