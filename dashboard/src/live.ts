import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { EventBody } from '../../src/webhooks/dto/event.body.js';
import { door, reach } from './api.js';
import { type Mode, SESSION } from './session.js';

/**
 * All events of an endpoint with `*`, and the legacy events for payments without Pix, which such an endpoint does not
 * get.
 */
const NAMES = '*,payment.created,payment.completed,payment.status_changed,payment.refunded';
/** Keys of screens that show one object. */
const ONE: readonly string[] = ['sale', 'case', 'payout'];
/** Shortest time between two reloads, however many events arrive. */
const REST_MS = 1_000;
const REOPEN_MS = 5_000;
/** If a stream has not reopened after this time, the service is unreachable. */
const AWAY_MS = 1_500;

/**
 * Reloads shown data on events: the lists of the event's mode, and the screens of its sale, case or payout. A hidden page
 * closes its stream, since a browser has few connections for all of its pages.
 * @param happened called with each event; must stay the same function
 */
export function useLive(mode: Mode | null, happened: (event: EventBody) => void): void {
  const client = useQueryClient();
  useEffect(() => {
    if (mode === null) return;
    let source: EventSource | null = null;
    let reopening: ReturnType<typeof setTimeout> | undefined;
    let missing: ReturnType<typeof setTimeout> | undefined;
    let resting: ReturnType<typeof setTimeout> | undefined;
    let heard: string[] = [];
    // Data loaded before the stream opened may have changed since.
    let wasCut = true;

    const tell = (): void => {
      resting = undefined;
      if (heard.length === 0) return;
      const texts = heard;
      heard = [];
      resting = setTimeout(tell, REST_MS);
      void client.invalidateQueries({
        predicate: ({ queryKey: [first, kind, id] }) =>
          first === mode && (!ONE.includes(String(kind)) || texts.some((text) => text.includes(String(id)))),
      });
    };
    const found = (): void => {
      clearTimeout(missing);
      missing = undefined;
    };
    const open = (): void => {
      clearTimeout(reopening);
      if (document.visibilityState === 'hidden' || source !== null) return;
      source = new EventSource(`${door(mode, '/events/stream')}?type=${NAMES}`);
      source.onopen = () => {
        found();
        reach.tell(false);
        // The stream does not deliver events between a cut and the first event after it.
        if (wasCut) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === mode });
        wasCut = false;
      };
      source.onmessage = ({ data }: MessageEvent<string>) => {
        heard.push(data);
        happened(JSON.parse(data) as EventBody);
        resting ??= setTimeout(tell, 50);
      };
      source.onerror = () => {
        // The end of each minute's stream is not an error: the browser resumes after the last event.
        wasCut = true;
        if (source?.readyState !== EventSource.CLOSED) {
          // Counts from the first of several tries.
          missing ??= setTimeout(() => reach.tell(true), AWAY_MS);
          return;
        }
        found();
        // The stream was refused: the session may have ended.
        void client.invalidateQueries({ queryKey: SESSION });
        close();
        reopening = setTimeout(open, REOPEN_MS);
      };
    };
    const close = (): void => {
      found();
      source?.close();
      source = null;
      wasCut = true;
    };
    const look = (): void => (document.visibilityState === 'hidden' ? close() : open());

    open();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      clearTimeout(reopening);
      clearTimeout(resting);
      clearTimeout(missing);
      source?.close();
    };
  }, [client, mode, happened]);
}
