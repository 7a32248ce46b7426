import { Injectable } from '@nestjs/common';
import { business } from '../core/errors/index.js';
import type { Mode } from '../core/mode.js';
import type { Acquirer } from './acquirer.port.js';

/** Makes the acquirer of that name. Requests wait for it, so it must be cheap. */
export type AcquirerMaker = (name: string) => Acquirer;

/**
 * Registry of acquirers. Adapters register themselves; a transaction keeps the name of the acquirer that created it.
 */
@Injectable()
export class AcquirersService {
  readonly #byName = new Map<string, Acquirer>();
  readonly #families = new Map<string, AcquirerMaker>();
  #test: string | null = null;

  /** @param options.servesTestMode true for the sandbox: every test transaction goes there */
  register(acquirer: Acquirer, options: { servesTestMode: boolean }): void {
    this.#byName.set(acquirer.name, acquirer);
    if (options.servesTestMode) this.#test = acquirer.name;
  }

  /** Registers acquirers named `<family>:<id>`. Each is made when it is first needed, and kept. */
  registerFamily(family: string, make: AcquirerMaker): void {
    this.#families.set(family, make);
  }

  /**
   * The acquirer for new transactions of the account.
   * @throws ApiError 422 `no_provider_configured`
   */
  for(mode: Mode, account: { readonly liveAcquirer: string | null }): Acquirer {
    const name = mode === 'test' ? this.#test : account.liveAcquirer;
    if (name !== null) return this.get(name);
    throw business(
      'no_provider_configured',
      'No acquirer is configured for this account in live mode. Use a test key (ak_test_…) until one is.',
    );
  }

  get(name: string): Acquirer {
    const known = this.#byName.get(name);
    if (known) return known;
    const [family = ''] = name.split(':', 1);
    const made = this.#families.get(family)?.(name);
    if (!made) throw new Error(`There is no acquirer adapter named "${name}"`);
    this.#byName.set(name, made);
    return made;
  }

  /** Names of acquirers whose charges and payments can be read here without a network call. */
  local(): string[] {
    return [...this.#byName.values()].filter(({ pixIssuer }) => pixIssuer.kind === 'local').map(({ name }) => name);
  }
}
