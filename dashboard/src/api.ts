export interface ErrorDetail {
  readonly param: string;
  readonly code: string;
  readonly message: string;
}

/** The error envelope of the service (docs/contract.md#errors). */
interface ErrorEnvelope {
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly param?: string;
    readonly details?: readonly ErrorDetail[];
  };
  readonly request_id?: string;
}

/** A refusal of the service; status 0 if the service was not reached. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
    readonly details: readonly ErrorDetail[] = [],
    /** The field that the error is about, '' for none. */
    readonly param = '',
  ) {
    super(message);
  }
}

/** For `refetchInterval`: a missing object is not requested again. @param ms interval between two requests */
export function unlessMissing(ms: number): (query: { state: { error: unknown } }) => number | false {
  return ({ state: { error } }) => (error instanceof ApiFailure && error.status === 404 ? false : ms);
}

/** Emits when any request finds that the session has ended. */
export const loginEnded = new EventTarget();

let isAway = false;
const watchers = new Set<() => void>();

/** Whether the last request reached the service; for `useSyncExternalStore`. */
export const reach = {
  isAway: (): boolean => isAway,
  tell: (away: boolean): void => {
    if (away === isAway) return;
    isAway = away;
    for (const watcher of watchers) watcher();
  },
  watch: (watcher: () => void): (() => void) => {
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  },
};

export type Query = Readonly<Record<string, string | number | boolean | undefined | null>>;

export function withQuery(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Answers that no screen has used yet, by their path. */
const early = new Map<string, Promise<unknown>>();

/** Sends a request before the application has loaded. The first `call` of the path gets its answer. */
export function requestEarly(path: string): void {
  const answer = call('GET', path);
  answer.catch(() => undefined);
  early.set(path, answer);
}

/** @throws ApiFailure for every answer but a 2xx */
export async function call<T>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const answer = method === 'GET' ? early.get(path) : undefined;
  if (answer !== undefined) {
    early.delete(path);
    return answer as Promise<T>;
  }
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      headers: {
        'X-Requested-With': 'dashboard',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    reach.tell(true);
    throw new ApiFailure(0, 'unreachable', 'The service does not answer.', null);
  }
  reach.tell(response.status === 502 || response.status === 503 || response.status === 504);
  const text = await response.text();
  let parsed: unknown = null;
  try {
    parsed = text === '' ? null : JSON.parse(text);
  } catch {
    // A proxy's page: its status says enough.
  }
  if (response.ok) return parsed as T;
  const { error, request_id: requestId } = (parsed ?? {}) as ErrorEnvelope;
  const failure = new ApiFailure(
    response.status,
    error?.code ?? 'unknown',
    error?.message ?? `HTTP ${String(response.status)}`,
    requestId ?? response.headers.get('x-request-id'),
    error?.details,
    error?.param,
  );
  if (failure.status === 401 && failure.code === 'unauthorized') loginEnded.dispatchEvent(new Event('ended'));
  throw failure;
}

/** @param path of a route of keys, without `/v1` */
export function door(mode: string, path: string): string {
  return `/v1/dashboard/${mode}${path}`;
}
