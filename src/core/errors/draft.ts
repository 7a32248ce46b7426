import { type ApiError, invalidRequest, type Violation } from './api-error.js';

/** What the rules of a DTO found. */
export interface Findings<T> {
  /** The request without what broke a rule. */
  readonly sound: Partial<T>;
  /** Names of the DTO's fields in its order, which is that of `ofFields`. */
  readonly fields: readonly string[];
  readonly ofFields: readonly Violation[];
  /** Violations of the body itself, like unknown fields; they come last. */
  readonly ofBody: readonly Violation[];
  /** How many more the body has. */
  readonly unnamed: number;
}

/**
 * A request as far as its DTO can judge it. A service whose further rules need more than the DTO knows (the mode, the
 * configuration, a name server) asks them about what is sound, and one answer names the violations of both.
 */
export class Draft<T extends object> {
  readonly #whole: T;
  readonly #findings: Findings<T>;

  /** @param findings left out for a request that the service makes itself, which keeps the rules */
  constructor(whole: T, findings: Findings<T> = { sound: whole, fields: [], ofFields: [], ofBody: [], unnamed: 0 }) {
    this.#whole = whole;
    this.#findings = findings;
  }

  /** Without the fields that broke a rule of the DTO, as if they had not been sent. */
  get sound(): Partial<T> {
    return this.#findings.sound;
  }

  /**
   * The only way to the whole request.
   * @param more what further rules found; of a field that is refused already (for them it was not sent) it is left out
   * @throws ApiError 400 with every violation
   */
  accept(more: readonly Violation[] = []): T {
    if (more.length > 0 || this.#isRefused) throw this.refusal(more);
    return this.#whole;
  }

  /** The 400 with every violation: of fields in the DTO's order, then of the body. */
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
