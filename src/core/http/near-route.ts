import type { Request } from 'express';

const MAX_PATH = 300;

/** The part of Express's router that is read here. */
interface Layer {
  readonly route?: Route;
  match(path: string): boolean;
}

interface Route {
  readonly path: unknown;
  readonly methods: Readonly<Record<string, boolean>>;
}

/**
 * Finds the route that a request which has none was meant for: without slashes too many, under `/v1`, of payments
 * instead of charges, or with another method.
 * @param switchedOff routes that answer 404 here, as `GET /v1/charges`
 * @returns as the documentation writes it, `POST /v1/payments/{id}/refund`; null when none is near
 */
export function nearRoute(
  { method, url, app }: Pick<Request, 'method' | 'url' | 'app'>,
  switchedOff: readonly string[],
): string | null {
  const { stack } = app.router as unknown as { stack: readonly Layer[] };
  const routes = stack.filter(isPlain).filter(({ route }) => !switchedOff.includes(nameOf(route)));
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const paths = nearPaths(url.split('?', 1)[0] ?? '');
  const find = (isMeant: (layer: Layer) => boolean): Layer | undefined => {
    const path = paths.find((candidate) => routes.some((layer) => isMeant(layer) && layer.match(candidate)));
    return path === undefined ? undefined : routes.find((layer) => isMeant(layer) && layer.match(path));
  };
  const route = (find((layer) => layer.route?.methods[verb] === true) ?? find(() => true))?.route;
  return route ? nameOf(route) : null;
}

function nameOf({ path, methods }: Route): string {
  const [verb = ''] = Object.keys(methods);
  return `${verb.toUpperCase()} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`;
}

/** Whether the layer is one address, and not a handler of many. */
function isPlain(layer: Layer): layer is Layer & { readonly route: Route } {
  const { route } = layer;
  return typeof route?.path === 'string' && !/[*{]/.test(route.path);
}

function nearPaths(path: string): string[] {
  // No route is longer, and a stranger's long address costs time.
  if (path.length > MAX_PATH) return [];
  const tidy = `/${path.split('/').filter(Boolean).join('/')}`;
  if (tidy === '/') return [];
  const versioned = tidy.startsWith('/v1/') ? tidy : `/v1${tidy}`;
  return [...new Set([tidy, versioned, versioned.replace(/^\/v1\/charges(?=\/|$)/, '/v1/payments')])];
}
