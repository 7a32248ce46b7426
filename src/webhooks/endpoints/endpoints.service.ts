import { Injectable } from '@nestjs/common';
import { type Actor, type AuditEventType, AuditTrail } from '../../audit/index.js';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { Database, type Tx } from '../../core/database/index.js';
import { business, type Draft, notFound } from '../../core/errors/index.js';
import { newId, parseId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { DeliveryQueue } from '../sending/delivery-queue.service.js';
import type { EndpointSignature } from '../webhook-endpoint.entity.js';
import { EndpointCheck } from './endpoint-check.service.js';
import { type Endpoint, type EndpointChange, EndpointsRepository, secretContext } from './endpoints.repository.js';
import { newSecret, overlapEnd } from './secrets.js';

/** Every event of the account is matched against each endpoint. */
export const MAX_ENDPOINTS = 100;
const WHAT = 'webhook endpoint';

export interface EndpointInput {
  readonly url: string;
  readonly events: readonly string[];
  readonly signature?: EndpointSignature;
}

/** Registers and changes the endpoints to which an account's webhooks go. */
@Injectable()
export class EndpointsService {
  constructor(
    private readonly check: EndpointCheck,
    private readonly database: Database,
    private readonly endpoints: EndpointsRepository,
    private readonly queue: DeliveryQueue,
    private readonly secrets: SecretBox,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the endpoint and its secret (64 hex characters), which cannot be read again
   * @throws ApiError 400 with every violation; 422 `webhook_endpoint_limit_reached` at 100 endpoints in the mode
   */
  async register(
    scope: Scope,
    draft: Draft<EndpointInput>,
    actor: Actor,
  ): Promise<{ endpoint: Endpoint; secret: string }> {
    const input = draft.accept(await this.check.problems(draft.sound, scope.mode));
    const now = this.clock.now();
    const endpoint: Endpoint = {
      id: newId(now),
      url: input.url,
      events: [...new Set(input.events)],
      status: 'ACTIVE',
      createdAt: now,
      updatedAt: now,
      previousSecretUntil: null,
      failingSince: null,
      signature: input.signature ?? 'default',
    };
    const secret = newSecret();
    const sealed = this.secrets.seal(secret, secretContext(endpoint.id));
    const { id, url, events } = endpoint;
    const inserted = await this.database.transaction(async (tx) => {
      const done = await this.endpoints.insert(tx, scope, endpoint, sealed, MAX_ENDPOINTS);
      if (done)
        this.#record(tx, actor, 'webhook_endpoint.registered', scope, { endpoint_id: id, host: hostOf(url), events });
      return done;
    });
    if (!inserted) {
      throw business(
        'webhook_endpoint_limit_reached',
        `An account has at most ${MAX_ENDPOINTS} webhook endpoints in each mode.`,
      );
    }
    return { endpoint, secret };
  }

  /** All endpoints, newest first: there are at most 100. */
  async list(scope: Scope): Promise<Endpoint[]> {
    return this.endpoints.list(scope);
  }

  /** @throws ApiError 404 for an id that is malformed, deleted or of another account or mode */
  async get(scope: Scope, id: string): Promise<Endpoint> {
    const endpoint = await this.endpoints.find(scope, endpointId(id));
    if (!endpoint) throw notFound(WHAT);
    return endpoint;
  }

  /**
   * Changes only the given fields. INACTIVE cancels waiting deliveries, a long queue's remainder soon after. An attempt
   * under way completes and is not repeated.
   * @throws ApiError 400 with every violation; 404
   */
  async update(scope: Scope, id: string, draft: Draft<EndpointChange>, actor: Actor): Promise<Endpoint> {
    const uuid = endpointId(id);
    const change = draft.accept(await this.check.problems(draft.sound, scope.mode));
    const { url, events, status } = change;
    if (Object.values(change).every((field) => field === undefined)) return this.get(scope, uuid);
    const unique = events === undefined ? change : { ...change, events: [...new Set(events)] };
    const endpoint = await this.database.transaction(async (tx) => {
      const changed = await this.endpoints.update(tx, scope, uuid, unique, this.clock.now());
      if (changed)
        this.#record(tx, actor, 'webhook_endpoint.changed', scope, {
          endpoint_id: uuid,
          ...unique,
          ...(url === undefined ? {} : { url: undefined, host: hostOf(url) }),
        });
      return changed;
    });
    if (!endpoint) throw notFound(WHAT);
    if (status === 'INACTIVE') await this.queue.cancel([uuid]);
    return endpoint;
  }

  /**
   * Hides the endpoint from every route and erases its secrets. Deliveries stay readable; waiting ones are cancelled.
   * @throws ApiError 404, also when it is deleted already
   */
  async remove(scope: Scope, id: string, actor: Actor): Promise<void> {
    const uuid = endpointId(id);
    const removed = await this.database.transaction(async (tx) => {
      const done = await this.endpoints.remove(tx, scope, uuid, this.clock.now());
      if (done) this.#record(tx, actor, 'webhook_endpoint.deleted', scope, { endpoint_id: uuid });
      return done;
    });
    if (!removed) throw notFound(WHAT);
    await this.queue.cancel([uuid]);
  }

  /**
   * Replaces the secret at once. If two calls run together, each returns its own secret and the later one stays.
   * @param overlapSeconds how long the previous secret signs too
   * @returns the bare id and the new secret, which cannot be read again
   * @throws ApiError 404
   */
  async rotateSecret(
    scope: Scope,
    id: string,
    overlapSeconds: number,
    actor: Actor,
  ): Promise<{ id: string; secret: string; signature: EndpointSignature }> {
    const uuid = endpointId(id);
    const secret = newSecret();
    const sealed = this.secrets.seal(secret, secretContext(uuid));
    const now = this.clock.now();
    const signature = await this.database.transaction(async (tx) => {
      const found = await this.endpoints.rotate(tx, scope, uuid, sealed, overlapEnd(now, overlapSeconds), now);
      if (found) this.#record(tx, actor, 'webhook_endpoint.secret_rotated', scope, { endpoint_id: uuid });
      return found;
    });
    if (!signature) throw notFound(WHAT);
    return { id: uuid, secret, signature };
  }

  #record(tx: Tx, actor: Actor, type: AuditEventType, { accountId, mode }: Scope, data: Record<string, unknown>): void {
    this.audit.record(tx, actor, type, accountId, { data: { mode, ...data } });
  }
}

/** The host alone goes into the audit trail: the path of a URL may be a secret. */
function hostOf(url: string): string {
  return new URL(url).host;
}

function endpointId(id: string): string {
  return parseId(id, ['wh_'], WHAT);
}
