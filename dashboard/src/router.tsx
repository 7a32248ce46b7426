import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useParam } from './address.js';
import { isMode, keepMode, lastMode, Session, useSession } from './session.js';
import { Shell } from './shell.js';
import { Failure, Missing, NoAccount } from './ui.js';

const root = createRootRoute({ component: Outlet, notFoundComponent: Missing });

/** Screens for people without a session. */
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
  // If the path has another word than a mode in this place, the page does not exist.
  component: () => {
    const { role } = useSession();
    if (!isMode(useParam('mode'))) return <Missing />;
    return role === 'OPERATOR' ? <NoAccount /> : <Outlet />;
  },
});

/** A module that exports the screen of that name. */
type Load<N extends string> = () => Promise<Readonly<Record<N, () => ReactNode>>>;

const screen = <const P extends string, N extends string>(path: P, load: Load<N>, name: N) =>
  createRoute({ getParentRoute: () => mode, path, component: lazyRouteComponent(load, name) });
const own = <const P extends string, N extends string>(path: P, load: Load<N>, name: N) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(load, name) });

const screens = [
  screen('/', () => import('./screens/home.js'), 'Home'),
  screen('sales', () => import('./screens/sales.js'), 'Sales'),
  screen('sales/new', () => import('./screens/new-charge.js'), 'NewCharge'),
  screen('sales/$id', () => import('./screens/sale.js'), 'Sale'),
  screen('links', () => import('./screens/links.js'), 'Links'),
  screen('links/new', () => import('./screens/link-form.js'), 'NewLink'),
  screen('links/$id', () => import('./screens/link.js'), 'PaymentLink'),
  screen('links/$id/edit', () => import('./screens/link-form.js'), 'EditLink'),
  screen('customers', () => import('./screens/customers.js'), 'Customers'),
  screen('customers/$id', () => import('./screens/customer.js'), 'Customer'),
  screen('balance', () => import('./screens/balance.js'), 'Balance'),
  screen('payouts', () => import('./screens/payouts.js'), 'Payouts'),
  screen('payouts/new', () => import('./screens/new-payout.js'), 'NewPayout'),
  screen('payouts/destinations', () => import('./screens/payout-destinations.js'), 'PayoutDestinations'),
  screen('payouts/schedule', () => import('./screens/payout-schedule.js'), 'PayoutSchedule'),
  screen('payouts/$id', () => import('./screens/payout.js'), 'Payout'),
  screen('reports', () => import('./screens/reports.js'), 'Reports'),
  screen('disputes', () => import('./screens/disputes.js'), 'Disputes'),
  screen('disputes/$id', () => import('./screens/dispute.js'), 'Dispute'),
  screen('webhooks', () => import('./screens/webhooks.js'), 'Webhooks'),
  screen('webhooks/deliveries/$id', () => import('./screens/delivery.js'), 'Delivery'),
  screen('developers', () => import('./screens/developers.js'), 'Developers'),
] as const;
const people = [
  own('team', () => import('./screens/team.js'), 'Team'),
  own('settings', () => import('./screens/settings.js'), 'Settings'),
  own('operations', () => import('./screens/operations.js'), 'Operations'),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([
    forgot,
    reset,
    invitation,
    inside.addChildren([start, mode.addChildren([...screens]), ...people]),
  ]),
  basepath: '/dashboard',
  // Keeps values as texts: the router's default would turn an order number into a number.
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

/** Preloads all screens, so that they open while the service does not answer. */
export function loadAllScreens(): void {
  for (const { options } of [...screens, ...people]) void options.component?.preload?.()?.catch(() => undefined);
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
