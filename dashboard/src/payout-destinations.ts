import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type {
  PayoutDestinationBody,
  PayoutDestinationListBody,
} from '../../src/payouts/dto/payout-destination.body.js';
import { call, door } from './api.js';
import { useMode } from './session.js';

/** The newest hundred saved destinations of the mode. */
export function useDestinations(): {
  readonly query: UseQueryResult<PayoutDestinationListBody>;
  readonly destinations: readonly PayoutDestinationBody[];
  /** @returns null: the destination was not saved, was deleted, or has no name */
  readonly labelOf: (id: string | undefined) => string | null;
} {
  const mode = useMode();
  const query = useQuery({
    queryKey: [mode, 'payout-destinations'],
    queryFn: () => call<PayoutDestinationListBody>('GET', door(mode, '/payout-destinations?limit=100')),
  });
  const destinations = query.data?.data ?? [];
  const labelOf = (id: string | undefined): string | null => destinations.find((one) => one.id === id)?.label ?? null;
  return { query, destinations, labelOf };
}
