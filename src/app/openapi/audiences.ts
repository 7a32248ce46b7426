import type { OpenAPIObject } from '@nestjs/swagger';

interface Audience {
  readonly title: string;
  /** Tags of its operations, in the order in which the document shows them, with their descriptions. */
  readonly tags: Readonly<Record<string, string>>;
}

/** Callers of the service. Each group has a document of its own: a client of merchants needs no operation of the staff. */
export const AUDIENCES = {
  merchants: {
    title: 'Recebe',
    tags: {
      Charges: 'Create and read Pix charges.',
      Payments: 'The transaction format: six methods, refunds, receipts.',
      'Payment links': 'Pages that sell without a program.',
      Customers: 'Who has paid, and what they bought, got back and disputed.',
      Payouts: 'Send money to a bank account.',
      MED: 'Disputes: contest or accept them, before their deadline.',
      Wallets: 'Balances of the account.',
      Reports: 'Files of the books: CSV, Excel, PDF, OFX and plain-text accounting.',
      Events: 'What webhooks say, as a list and as a stream.',
      Webhooks: 'Where events are sent.',
      Sandbox: 'Drive test charges.',
      Storage: 'Signed URLs to files, where the service keeps them itself.',
    },
  },
  people: {
    title: 'Recebe: people of an account',
    tags: {
      Dashboard: 'Log in and out.',
      Account: 'The merchant, as payers see it.',
      Members: 'People of the account.',
      'API keys': 'Issue, rotate and revoke keys.',
      'Audit events': 'Who did what.',
      'Request logs': 'What was asked of the API.',
      Decisions: 'What only people may do with payments, customers and payouts.',
    },
  },
  operators: {
    title: 'Recebe: operators',
    tags: { Operators: 'For the staff of the platform.', Operations: 'Health and metrics.' },
  },
  payers: {
    title: 'Recebe: pages of payers',
    tags: { Checkout: 'Public pages for payers.', 'Sandbox pages': 'Pages of test cards and test boletos.' },
  },
  psps: { title: 'Recebe: callbacks', tags: { Callbacks: 'Where banks and PSPs report payments.' } },
} as const satisfies Record<string, Audience>;

export type AudienceName = keyof typeof AUDIENCES;

/** Returns the tags of all audiences, as a document of everything has them. */
export const ALL_TAGS: readonly { name: string; description: string }[] = Object.values(AUDIENCES).flatMap(({ tags }) =>
  Object.entries(tags).map(([name, description]) => ({ name, description })),
);

/** Returns the operations of one audience, with the components that they need and no others. */
export function documentFor(audience: AudienceName, document: OpenAPIObject): OpenAPIObject {
  const { title, tags } = AUDIENCES[audience];
  const isShown = (operation: unknown): boolean =>
    (operation as { tags?: readonly string[] }).tags?.some((tag) => Object.hasOwn(tags, tag)) === true;
  const paths = Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) => {
      const shown = Object.entries(methods).filter(([, operation]) => isShown(operation));
      return shown.length === 0 ? [] : [[path, Object.fromEntries(shown)]];
    }),
  );
  const { webhooks, ...rest } = document as OpenAPIObject & { webhooks?: object };
  const own = {
    ...rest,
    info: { ...document.info, title },
    tags: ALL_TAGS.filter(({ name }) => Object.hasOwn(tags, name)),
    paths,
    ...(audience === 'merchants' && webhooks !== undefined ? { webhooks } : {}),
  };
  return { ...own, components: neededBy(own) };
}

type Sections = Record<string, Record<string, object>>;

/** Returns the components that paths and webhooks reach, and all security schemes that operations name. */
export function neededBy({ components = {}, ...rest }: OpenAPIObject): NonNullable<OpenAPIObject['components']> {
  const all = components as Sections;
  const needed: Sections = {};
  const reach = (value: object): void => {
    for (const [, section = '', name = ''] of JSON.stringify(value).matchAll(
      /"\$ref":"#\/components\/(\w+)\/([^"]+)"/g,
    )) {
      const found = all[section]?.[name];
      if (found === undefined || needed[section]?.[name] !== undefined) continue;
      needed[section] = { ...needed[section], [name]: found };
      reach(found);
    }
  };
  reach(rest);
  const schemes = Object.entries(all['securitySchemes'] ?? {}).filter(([name]) =>
    JSON.stringify(rest.paths).includes(`"security":[{"${name}"`),
  );
  if (schemes.length > 0) needed['securitySchemes'] = Object.fromEntries(schemes);
  return needed;
}
