/** Specs that measure time or memory, or that load the whole machine: one at a time, when the others are done. */
const ALONE = [
  '/test/stress/(fail-over|forged-callbacks|four-processes|noisy-neighbour|worst-bodies)\\.',
  '/test/e2e/[^/]+/(evidence-memory|login-time|med-list|webhook-failures|webhook-isolation)\\.e2e\\.',
];

/** What takes half a minute or more: trials that repeat, kill and restart, a long walk in a browser, a month of sales. */
const LONG = [
  '/test/e2e/[^/]+/(dashboard-screens|demo-fill|deploy|package)\\.e2e\\.',
  '/test/integration/held-snapshot\\.',
  '/test/stress/(cluster|large-report|live-pix|payouts-storm|postgres-outage|redis-loss|refund-crash|statistics|webhook-workers)\\.',
];

/** `npm run test:unit`: specs that need no server and no build. */
const UNIT = ['src/**/*', 'test/dashboard/*', 'test/rules/needs'];

/** Specs of `src` that open sockets, start processes, or wait for costly hashes and timers: they are left to `npm test`. */
const NOT_UNIT = [
  '/src/core/(queue|rate-limit)/',
  '/src/local-servers/',
  '/src/core/(process-identity|net/bounded-answers)\\.',
  '/src/accounts/passwords\\.service\\.',
  '/src/acquirers/pix-api/(doctor|pix-api\\.client|pix-api\\.acquirer)\\.',
  '/src/checkout/checkout\\.controller\\.',
  '/src/webhooks/feed/event-stream\\.',
  '/src/webhooks/sending/(dispatcher|guarded-connect|webhook-client)\\.',
];

/** Where a person waits for all specs, tools/scripts/test.mjs leaves out what is long or alone. */
const leftOut = process.env.TEST_LEAVE_OUT_LONG === '1' ? LONG : [];

const common = {
  runtime: '<rootDir>/test/runner/runtime.mjs',
  testEnvironment: '<rootDir>/test/runner/environment.mjs',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  injectGlobals: false,
  setupFiles: ['<rootDir>/test/support/property-seed.ts'],
  transform: {},
};

/** @type {import('jest').Config} */
export default {
  // A test that waits on a busy machine is not wrong.
  testTimeout: 180_000,
  // Beside what the runner compiles: the directory for temporary files is gone after each run.
  cacheDirectory: '<rootDir>/node_modules/.cache/jest',
  reporters: ['default', '<rootDir>/test/runner/results-reporter.mjs'],
  // Jest leaves one processor free, which is half of a small machine.
  maxWorkers: '100%',
  testSequencer: '<rootDir>/test/runner/sequencer.mjs',
  // A worker that modules and data have filled is replaced; it also makes Jest use workers even for a single file.
  workerIdleMemoryLimit: '1200MB',
  projects: [
    // Each spec file makes a database of its own, so several run at a time.
    { ...common, displayName: 'parallel', testMatch: ['**/*.spec.ts'], testPathIgnorePatterns: [...ALONE, ...leftOut] },
    { ...common, displayName: 'alone', testRegex: ALONE.map((pattern) => `${pattern}.*spec\\.ts$`) },
    {
      ...common,
      displayName: 'unit',
      testMatch: UNIT.map((pattern) => `<rootDir>/${pattern}.spec.ts`),
      testPathIgnorePatterns: NOT_UNIT,
    },
  ],
};
