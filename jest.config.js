/** Specs that measure time or memory, or that load the whole machine: one at a time, when the others are done. */
const ALONE = [
  '/test/stress/(four-processes|noisy-neighbour|worst-bodies)\\.',
  '/test/e2e/(evidence-memory|login-time|med-list|webhook-isolation)\\.e2e\\.',
];

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
  testTimeout: 20_000,
  testSequencer: '<rootDir>/test/runner/sequencer.mjs',
  // A worker that modules and data have filled is replaced; it also makes Jest use workers even for a single file.
  workerIdleMemoryLimit: '1200MB',
  projects: [
    // Each spec file makes a database of its own, so several run at a time.
    { ...common, displayName: 'parallel', testMatch: ['**/*.spec.ts'], testPathIgnorePatterns: ALONE },
    { ...common, displayName: 'alone', testRegex: ALONE.map((pattern) => `${pattern}.*spec\\.ts$`) },
  ],
};
