import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { door, reach } from './api.js';
import { type Mode, SESSION } from './session.js';

/** All that an endpoint with `*` gets, and of payments that are no Pix what such an endpoint does not get. */
const NAMES = '*,payment.created,payment.status_changed,payment.refunded';
/** However much happens, the page asks again no more often. */
const REST_MS = 1_000;
const REOPEN_MS = 5_000;
/** A stream that is not open again by then has a reason. */
const AWAY_MS = 1_500;

/**
 * What is shown follows what happens: an event has the lists of its mode, and the screens of its sale or case, asked
 * for again. A page that nobody sees follows nothing, since a browser has few connections for all of its pages.
 */
export function useLive(mode: Mode | null): void {
  const client = useQueryClient();
  useEffect(() => {
    if (mode === null) return;
    let source: EventSource | null = null;
    let reopening: ReturnType<typeof setTimeout> | undefined;
    let missing: ReturnType<typeof setTimeout> | undefined;
    let resting: ReturnType<typeof setTimeout> | undefined;
    let heard: string[] = [];
    // What was asked for before the stream is open may have changed since.
    let wasCut = true;

    const tell = (): void => {
      resting = undefined;
      if (heard.length === 0) return;
      const texts = heard;
      heard = [];
      resting = setTimeout(tell, REST_MS);
      void client.invalidateQueries({
        predicate: ({ queryKey: [first, kind, id] }) =>
          first === mode && ((kind !== 'sale' && kind !== 'case') || texts.some((text) => text.includes(String(id)))),
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
        // What happened before the first event after a cut is told by nobody.
        if (wasCut) void client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === mode });
        wasCut = false;
      };
      source.onmessage = ({ data }: MessageEvent<string>) => {
        heard.push(data);
        resting ??= setTimeout(tell, 50);
      };
      source.onerror = () => {
        // The end of each minute's stream is none: the browser goes on by itself behind the last event.
        wasCut = true;
        if (source?.readyState !== EventSource.CLOSED) {
          // From the first of several tries on.
          missing ??= setTimeout(() => reach.tell(true), AWAY_MS);
          return;
        }
        found();
        // Refused: it may be that the login has ended.
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
  }, [client, mode]);
}
