import { Injectable } from '@nestjs/common';
import type { Callback } from './callbacks.js';
import type { InboundAuthentication } from './profile.js';

/** The caller of one callback address. */
export interface CallbackSource {
  readonly inbound: InboundAuthentication;
  /** Whether the secret of this number opens the address now. */
  takesSecret(number: number): boolean;
  /** What a body tells of. Pure. */
  read(body: unknown): Callback;
}

/** @param acquirer by its name, `pix-api:<connection id>` @returns null when there is no such connection */
export type FindCallbackSource = (acquirer: string) => Promise<CallbackSource | null>;

/** Where callbacks come from. The module that keeps connections registers how to find them. */
@Injectable()
export class CallbackSources {
  readonly #finders: FindCallbackSource[] = [];

  add(find: FindCallbackSource): void {
    this.#finders.push(find);
  }

  async find(acquirer: string): Promise<CallbackSource | null> {
    for (const find of this.#finders) {
      const found = await find(acquirer);
      if (found) return found;
    }
    return null;
  }
}
