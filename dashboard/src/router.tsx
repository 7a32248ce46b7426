import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import { useParam } from './address.js';
import { isMode, keepMode, lastMode, Session, useSession } from './session.js';
import { Shell } from './shell.js';
import { Failure, Missing } from './ui.js';

const root = createRootRoute({ component: Outlet, notFoundComponent: Missing });

/** For who has no login yet. */
const forgot = createRoute({
  getParentRoute: () => root,
  path: 'forgot-password',
  component: lazyRouteComponent(() => import('./screens/password.js'), 'ForgotPassword'),
});
const reset = createRoute({
  getParentRoute: () => root,
  path: 'reset-password',
  component: lazyRouteComponent(() => import('./screens/password.js'), 'ResetPassword'),
});
const invitation = createRoute({
  getParentRoute: () => root,
  path: 'invitation',
  component: lazyRouteComponent(() => import('./screens/password.js'), 'AcceptInvitation'),
});

const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: () => (
    <Session>
      <Shell />
    </Session>
  ),
});
const start = createRoute({
  getParentRoute: () => inside,
  path: '/',
  component: () => {
    if (useSession().role === 'OPERATOR') return <Navigate to="/operations" replace />;
    return <Navigate to="/$mode" params={{ mode: lastMode() }} replace />;
  },
});
const mode = createRoute({
  getParentRoute: () => inside,
  path: '$mode',
  beforeLoad: ({ params }) => {
    if (isMode(params.mode)) keepMode(params.mode);
  },
  // Any other word in its place is no address.
  component: () => (isMode(useParam('mode')) ? <Outlet /> : <Missing />),
});

const screen = <const P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => mode, path, component });
const own = <const P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => inside, path, component });

const screens = [
  screen(
    '/',
    lazyRouteComponent(() => import('./screens/home.js'), 'Home'),
  ),
  screen(
    'sales',
    lazyRouteComponent(() => import('./screens/sales.js'), 'Sales'),
  ),
  screen(
    'sales/new',
    lazyRouteComponent(() => import('./screens/new-charge.js'), 'NewCharge'),
  ),
  screen(
    'sales/$id',
    lazyRouteComponent(() => import('./screens/sale.js'), 'Sale'),
  ),
  screen(
    'balance',
    lazyRouteComponent(() => import('./screens/balance.js'), 'Balance'),
  ),
  screen(
    'reports',
    lazyRouteComponent(() => import('./screens/reports.js'), 'Reports'),
  ),
  screen(
    'disputes',
    lazyRouteComponent(() => import('./screens/disputes.js'), 'Disputes'),
  ),
  screen(
    'disputes/$id',
    lazyRouteComponent(() => import('./screens/dispute.js'), 'Dispute'),
  ),
  screen(
    'webhooks',
    lazyRouteComponent(() => import('./screens/webhooks.js'), 'Webhooks'),
  ),
  screen(
    'webhooks/deliveries/$id',
    lazyRouteComponent(() => import('./screens/delivery.js'), 'Delivery'),
  ),
  screen(
    'developers',
    lazyRouteComponent(() => import('./screens/developers.js'), 'Developers'),
  ),
] as const;
const people = [
  own(
    'team',
    lazyRouteComponent(() => import('./screens/team.js'), 'Team'),
  ),
  own(
    'settings',
    lazyRouteComponent(() => import('./screens/settings.js'), 'Settings'),
  ),
  own(
    'operations',
    lazyRouteComponent(() => import('./screens/operations.js'), 'Operations'),
  ),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([
    forgot,
    reset,
    invitation,
    inside.addChildren([start, mode.addChildren([...screens]), ...people]),
  ]),
  basepath: '/dashboard',
  // Texts stay texts: the default takes an order number for a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const given = Object.entries(search).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  },
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultNotFoundComponent: Missing,
  defaultErrorComponent: ({ error }) => <Failure error={error} retry={() => location.reload()} />,
});

/** So that any screen can be opened while the service does not answer. */
export function loadAllScreens(): void {
  for (const { options } of [...screens, ...people]) void options.component?.preload?.()?.catch(() => undefined);
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
