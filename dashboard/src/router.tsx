import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import { useParam } from './address.js';
import { MODE_SCREENS, OWN_SCREENS } from './screens.js';
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
    const first: string = useSession().role === 'OPERATOR' ? '/operations' : `/${lastMode()}`;
    return <Navigate to={first} replace />;
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

const screens = MODE_SCREENS.map(({ path, load, name }) =>
  createRoute({ getParentRoute: () => mode, path, component: lazyRouteComponent(load, name) }),
);
const people = OWN_SCREENS.map(({ path, load, name }) =>
  createRoute({ getParentRoute: () => inside, path, component: lazyRouteComponent(load, name) }),
);

export const router = createRouter({
  routeTree: root.addChildren([
    forgot,
    reset,
    invitation,
    inside.addChildren([start, mode.addChildren(screens), ...people]),
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

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
