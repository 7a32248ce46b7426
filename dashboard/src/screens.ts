import type { ReactNode } from 'react';

/** A module that exports the screen of that name. */
type Load<N extends string> = () => Promise<Readonly<Record<N, () => ReactNode>>>;

export interface Screen {
  /** As the router has it: `$id` stands for any id. */
  readonly path: string;
  readonly load: Load<string>;
  readonly name: string;
}

const screen = <N extends string>(path: string, load: Load<N>, name: N): Screen => ({ path, load, name });

/** Screens of a mode, below `/dashboard/test` and `/dashboard/live`. */
export const MODE_SCREENS: readonly Screen[] = [
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
];

/** Screens without a mode, below `/dashboard`. */
export const OWN_SCREENS: readonly Screen[] = [
  screen('team', () => import('./screens/team.js'), 'Team'),
  screen('settings', () => import('./screens/settings.js'), 'Settings'),
  screen('operations', () => import('./screens/operations.js'), 'Operations'),
];

function isAt(pathname: string, path: string): boolean {
  return new RegExp(`^/dashboard/${path.replace(/\$id/, '[^/]+')}/?$`).test(pathname);
}

const load = (screen?: Screen): void => void screen?.load().catch(() => undefined);

/** Loads the screen of an address. If that fails, the router tries again and reports it. */
export function loadScreenOf(pathname: string): void {
  load(
    OWN_SCREENS.find(({ path }) => isAt(pathname, path)) ??
      MODE_SCREENS.find(({ path }) => isAt(pathname, `(?:test|live)/?${path}`)),
  );
}

/** Loads all screens, so that they open while the service does not answer. */
export function loadAllScreens(): void {
  [...MODE_SCREENS, ...OWN_SCREENS].forEach(load);
}
