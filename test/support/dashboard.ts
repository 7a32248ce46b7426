import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Locator, Page } from 'playwright-core';
import { openBrowser } from './browser.js';
import { CLI, type Finished, Processes, readDemo, type ServiceProcess } from './process.js';
import { waitFor } from './wait.js';

export const PASSWORD = 'correct horse battery';
/** A picture of one point. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** Screens of an account that need no id, below `/dashboard`. */
export const SCREENS = [
  '/test',
  '/test/sales',
  '/test/sales/new',
  '/test/balance',
  '/test/payouts',
  '/test/payouts/new',
  '/test/payouts/destinations',
  '/test/payouts/schedule',
  '/test/links',
  '/test/links/new',
  '/test/customers',
  '/test/reports',
  '/test/disputes',
  '/test/webhooks',
  '/test/developers',
  '/team',
  '/settings',
  '/nothing-here',
] as const;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type ContextOptions = Parameters<Browser['newContext']>[0];

/** The service as `npm start` runs it, its dashboard in a real browser, and what a person does there. */
export class Dashboard {
  readonly processes = new Processes();
  /** Page errors, requests to other hosts, and violations of the page's own policy */
  readonly faults: string[] = [];
  readonly dataDir = this.processes.dataDir();
  service!: ServiceProcess;
  browser!: Browser;
  #count = 0;

  async start(env: Record<string, string> = {}): Promise<this> {
    const limits = { LOG_LEVEL: 'error', RATE_LIMIT_LOGIN_PER_15_MINUTES: '1000' };
    [this.service, this.browser] = await Promise.all([
      this.processes.start(this.dataDir, { ...limits, ...env }),
      openBrowser(),
    ]);
    return this;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.processes.cleanUp();
  }

  /** Uses the service's own name for itself, since its signed URLs must match the page's policy. */
  get base(): string {
    return this.service.url.replace('127.0.0.1', 'localhost');
  }

  async open(path = '', options: ContextOptions = {}): Promise<Page> {
    const context = await this.browser.newContext({
      locale: 'pt-BR',
      viewport: { width: 1280, height: 900 },
      ...options,
    });
    const page = await context.newPage();
    this.watch(page);
    await page.goto(`${this.base}/dashboard${path}`);
    return page;
  }

  watch(page: Page): void {
    page.on('pageerror', (error) => this.faults.push(`${page.url()} ${error.message}`));
    page.on('request', (request) => {
      if (!request.url().startsWith('blob:') && new URL(request.url()).origin !== this.base)
        this.faults.push(`foreign ${request.url()}`);
    });
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) this.faults.push(`${page.url()} ${message.text()}`);
    });
  }

  async logIn(page: Page, email: string, password: string): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Senha').fill(password);
    await page.getByRole('button', { name: 'Entrar' }).click();
  }

  async asOwner(path = '', options: ContextOptions = {}): Promise<Page> {
    const page = await this.open(path, options);
    const { email, password } = readDemo(this.dataDir);
    await this.logIn(page, email, password);
    await page.getByRole('navigation', { name: 'Principal' }).waitFor();
    return page;
  }

  /** Invites a person, who chooses a password and logs in. @returns their page, in a browser of their own */
  async colleague(owner: Page, email: string, role: string): Promise<Page> {
    await owner.evaluate(postAsPage, { path: '/v1/members', body: { email, role } });
    const page = await this.open(`/invitation#${await this.linkTo(email, /\/dashboard\/invitation#(\S+)/)}`);
    await page.getByLabel('Nova senha').fill(PASSWORD);
    await page.getByRole('button', { name: 'Salvar a senha' }).click();
    await page.getByText('Pronto. Agora entre').waitFor();
    await this.visit(page, '');
    await this.logIn(page, email, PASSWORD);
    await page.getByRole('navigation', { name: 'Principal' }).waitFor();
    return page;
  }

  /** Sets a second factor for the person of the page. @returns a function that makes the next code */
  async withSecondFactor(page: Page): Promise<() => string> {
    const begun = await page.evaluate(postAsPage, { path: '/v1/auth/totp', body: { password: PASSWORD } });
    const totp = new TOTP({ secret: Secret.fromBase32(String(begun['secret'])) });
    await page.evaluate(postAsPage, { path: '/v1/auth/totp/confirm', body: { code: totp.generate() } });
    // A code works once, so the next one is that of the next step.
    return () => totp.generate({ timestamp: Date.now() + 30_000 });
  }

  /** Makes an operator. @returns their page */
  async operator(email: string): Promise<Page> {
    const passwordFile = join(this.dataDir, 'operator-password');
    writeFileSync(passwordFile, PASSWORD);
    await this.cli(['operator', 'create', '--email', email, '--password-file', passwordFile]);
    const page = await this.open('/operations');
    await this.logIn(page, email, PASSWORD);
    await heading(page, 'Operação');
    return page;
  }

  /** Opens another screen within the login. */
  visit(page: Page, path: string): Promise<unknown> {
    return page.goto(`${this.base}/dashboard${path}`);
  }

  cli(args: readonly string[]): Promise<Finished> {
    return this.processes.run(CLI, args, { DATA_DIR: this.dataDir, LOG_LEVEL: 'silent' });
  }

  /** With the demo's test key. */
  async api<T>(method: string, path: string, body?: object, headers = {}): Promise<T> {
    const response = await fetch(`${this.service.url}${path}`, {
      method,
      headers: { apikey: readDemo(this.dataDir).test_api_key, 'Content-Type': 'application/json', ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Error(`${path}: ${String(response.status)} ${await response.text()}`);
    return (await response.json()) as T;
  }

  charge(body: object = {}): Promise<{ id: string }> {
    return this.api(
      'POST',
      '/v1/charges',
      { amount: 5000, payment_method: 'pix', ...body },
      { 'Idempotency-Key': `spec-charge-${String(++this.#count)}` },
    );
  }

  simulate(id: string, event: object): Promise<unknown> {
    return this.api('POST', `/v1/sandbox/charges/${id}/simulate`, event);
  }

  /** Out of a mail file, which mails of a service without SMTP_URL are. */
  async linkTo(to: string, pattern: RegExp): Promise<string> {
    return waitFor(`a mail to ${to}`, () => {
      const directory = join(this.dataDir, 'mail'); // made with the first mail
      const names = existsSync(directory) ? readdirSync(directory) : [];
      const mails = names.map((name) => readFileSync(join(directory, name), 'utf8'));
      return mails
        .filter((mail) => mail.includes(`To: ${to}`))
        .flatMap((mail) => pattern.exec(mail.replace(/=\r\n/g, ''))?.[1] ?? [])[0];
    });
  }
}

interface Posted {
  readonly path: string;
  readonly body: object;
}

/** Posts with the session of the page; runs in the browser. @throws Error unless the answer is a 2xx */
export async function postAsPage({ path, body }: Posted): Promise<Record<string, unknown>> {
  const answer = await fetch(path, {
    method: 'POST',
    headers: { 'X-Requested-With': 'dashboard', 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: ${String(answer.status)} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

export const go = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation', { name: 'Principal' }).getByRole('link', { name, exact: true }).click();

export const heading = (page: Page, name: string | RegExp): Promise<void> =>
  page.getByRole('heading', { level: 1, name }).waitFor();

export const inDialog = (page: Page): Locator => page.getByRole('dialog');

/**
 * Lists what axe finds on the current page, and whether the page is wider than its window. @param about place of the
 * page
 */
export async function barriers(page: Page, about: string): Promise<unknown[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
  const violations = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    "axe.run({ resultTypes: ['violations'], preload: false }).then((result) => result.violations)",
  );
  const overflow = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  return [
    ...violations.map(({ id, nodes }) => ({ about, id, nodes: nodes.map(({ html }) => html) })),
    ...(overflow > 0 ? [{ about, overflow }] : []),
  ];
}
