import { Injectable } from '@nestjs/common';
import type { NotificationHint } from '../acquirer.port.js';

/** How a PSP proves that a callback is its own, beside the secret in the URL. */
export interface InboundRules {
  /** It shows a client certificate; asked for where a proxy of ours checks certificates. */
  readonly mtls: boolean;
  /** Addresses and networks (`192.0.2.0/24`) that it calls from; null: it does not say. */
  readonly addresses: readonly string[] | null;
}

/** Who calls back at one address. */
export interface CallbackSource {
  readonly inbound: InboundRules;
  /**
   * What a body tells of. Pure.
   * @throws Error for a body of another shape
   */
  read(body: unknown): readonly NotificationHint[];
}

/** @param acquirer by its name, `pix-api:<connection id>` @returns null when there is no such connection */
export type FindCallbackSource = (acquirer: string) => Promise<CallbackSource | null>;

/** Where callbacks come from: whoever keeps connections registers how to find them. */
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
