import type { EventCatalogItemBody } from '../dto/event-catalog-item.body.js';
import type {
  EndpointBody,
  EndpointListBody,
  RegisteredEndpointBody,
  RotatedSecretBody,
  UpdatedEndpointBody,
} from '../dto/endpoint.body.js';
import type { EndpointSignature } from '../webhook-endpoint.entity.js';
import type { Endpoint } from './endpoints.repository.js';
import { standardSecret } from './secrets.js';

/** Builds the answer to a change. */
export function updatedEndpoint({ id, url, events, status, signature }: Endpoint): UpdatedEndpointBody {
  return { id, url, events: [...events], status, ...(signature === 'standard' ? { signature } : {}) };
}

/** Builds the answer to a registration. Only this answer and that of a rotation contain a secret. */
export function registeredEndpoint(endpoint: Endpoint, secret: string): RegisteredEndpointBody {
  return { ...updatedEndpoint(endpoint), ...shownSecret(secret, endpoint.signature) };
}

/** Builds the answer to a rotation. */
export function rotatedSecret(id: string, secret: string, signature: EndpointSignature): RotatedSecretBody {
  return { id, ...shownSecret(secret, signature) };
}

function shownSecret(secret: string, signature: EndpointSignature): Omit<RotatedSecretBody, 'id'> {
  return { secret, ...(signature === 'standard' ? { standardSecret: standardSecret(secret) } : {}) };
}

export function endpointItem(endpoint: Endpoint, now: Date): EndpointBody {
  const { previousSecretUntil: until, failingSince, status } = endpoint;
  return {
    ...updatedEndpoint(endpoint),
    id: `wh_${endpoint.id}`,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
    ...(until !== null && until > now ? { previousSecretUntil: until.toISOString() } : {}),
    ...(failingSince !== null && status === 'ACTIVE' ? { failingSince: failingSince.toISOString() } : {}),
  };
}

export function endpointList(endpoints: readonly Endpoint[], now: Date): EndpointListBody {
  return { data: endpoints.map((endpoint) => endpointItem(endpoint, now)) };
}

export function catalogItem(item: { event: string; description: string; legacy: boolean }): EventCatalogItemBody {
  return { event: item.event, description: item.description, legacy: item.legacy };
}
