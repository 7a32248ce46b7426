import type { EventCatalogItemBody } from '../dto/event-catalog-item.body.js';
import type {
  EndpointBody,
  EndpointListBody,
  RegisteredEndpointBody,
  UpdatedEndpointBody,
} from '../dto/endpoint.body.js';
import type { Endpoint } from './endpoints.repository.js';

/** Builds the answer to a change. */
export function updatedEndpoint({ id, url, events, status }: Endpoint): UpdatedEndpointBody {
  return { id, url, events: [...events], status };
}

/** Builds the answer to a registration. Only this answer and that of a rotation contain a secret. */
export function registeredEndpoint(endpoint: Endpoint, secret: string): RegisteredEndpointBody {
  return { ...updatedEndpoint(endpoint), secret };
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
