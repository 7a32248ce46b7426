import { Injectable } from '@nestjs/common';
import { business } from '../core/errors/index.js';
import type { Scope } from '../core/mode.js';
import type { Acquirer } from './acquirer.port.js';

/** Who serves an account. Adapters register themselves; a transaction keeps the name of the one that made it. */
@Injectable()
export class AcquirersService {
  readonly #byName = new Map<string, Acquirer>();
  #test: string | null = null;

  /** @param options.servesTestMode true for the sandbox: every test transaction goes there (decisions §6.1) */
  register(acquirer: Acquirer, options: { servesTestMode: boolean }): void {
    this.#byName.set(acquirer.name, acquirer);
    if (options.servesTestMode) this.#test = acquirer.name;
  }

  /** @throws ApiError 422 `no_provider_configured` */
  for(scope: Scope): Acquirer {
    if (scope.mode === 'test' && this.#test !== null) return this.get(this.#test);
    throw business(
      'no_provider_configured',
      'No acquirer is configured for this account in live mode. Use a test key (ak_test_…) until one is.',
    );
  }

  get(name: string): Acquirer {
    const acquirer = this.#byName.get(name);
    if (!acquirer) throw new Error(`There is no acquirer adapter named "${name}"`);
    return acquirer;
  }

  /** Those whose charges and payments are all known here without a call. */
  local(): string[] {
    return [...this.#byName.values()].filter(({ pixIssuer }) => pixIssuer.kind === 'local').map(({ name }) => name);
  }
}
