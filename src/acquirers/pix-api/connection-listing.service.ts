import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AcquirerDirectory } from '../acquirer-directory.service.js';
import { type CallbackSource, CallbackSources } from './callback-sources.service.js';
import { readCallbackBody } from './callbacks.js';
import { acquirerNameOf, connectionIdOf } from './pix-api-family.service.js';
import { ConnectionsService } from './connections.service.js';
import { findProfile } from './profiles.js';

/** Lets the rest find the connections by what it knows: the acquirers of an account, who calls back at an address. */
@Injectable()
export class ConnectionListing implements OnModuleInit {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly directory: AcquirerDirectory,
    private readonly sources: CallbackSources,
  ) {}

  onModuleInit(): void {
    this.directory.add({
      list: async (account) =>
        (await this.connections.list(account)).map(({ id, accountId }) => ({ name: acquirerNameOf(id), accountId })),
      ownerOf: async (tx, name) => {
        const id = connectionIdOf(name);
        return id === null ? null : this.connections.ownerOf(tx, id);
      },
    });
    this.sources.add((acquirer) => this.#source(acquirer));
  }

  async #source(acquirer: string): Promise<CallbackSource | null> {
    const id = connectionIdOf(acquirer);
    const found = id === null ? null : await this.connections.callbacksOf(id);
    const profile = found === null ? null : findProfile(found.profile);
    if (!found || !profile) return null;
    const takesSecret = (number: number): boolean => number >= found.oldest && number <= found.newest;
    return { inbound: profile.inbound.value, takesSecret, read: readCallbackBody };
  }
}
