import type { Request } from 'express';

/** The part of Express's router that is read here. */
interface Layer {
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/**
 * Finds the route that a request which has none was meant for: without slashes too many, under `/v1`, of payments
 * instead of charges, or with another method.
 * @returns as the documentation writes it, `POST /v1/payments/{id}/refund`; null when none is near
 */
export function nearRoute({ method, url, app }: Pick<Request, 'method' | 'url' | 'app'>): string | null {
  const routes = (app.router as unknown as { stack: readonly Layer[] }).stack.filter(isPlain);
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const paths = nearPaths(url.split('?', 1)[0] ?? '');
  const find = (isMeant: (layer: Layer) => boolean): Layer | undefined => {
    const path = paths.find((candidate) => routes.some((layer) => isMeant(layer) && layer.match(candidate)));
    return path === undefined ? undefined : routes.find((layer) => isMeant(layer) && layer.match(path));
  };
  const route = (find((layer) => layer.route?.methods[verb] === true) ?? find(() => true))?.route;
  if (!route) return null;
  const [other = verb] = Object.keys(route.methods);
  const documented = String(route.path).replaceAll(/:(\w+)/g, '{$1}');
  return `${(route.methods[verb] === true ? verb : other).toUpperCase()} ${documented}`;
}

/** Whether the layer is one address, and not a handler of many. */
function isPlain({ route }: Layer): boolean {
  return typeof route?.path === 'string' && !/[*{]/.test(route.path);
}

function nearPaths(path: string): string[] {
  const tidy = `/${path.split('/').filter(Boolean).join('/')}`;
  if (tidy === '/') return [];
  const versioned = tidy.startsWith('/v1/') ? tidy : `/v1${tidy}`;
  return [...new Set([tidy, versioned, versioned.replace(/^\/v1\/charges\//, '/v1/payments/')])];
}
