/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testTimeout: 20_000,
  // One spec file at a time, many measure times; in a process of its own, made anew when ES modules have filled it up.
  maxWorkers: 1,
  workerIdleMemoryLimit: '800MB',
  setupFiles: ['<rootDir>/test/support/property-seed.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  // Sources import './x.js' as ES modules require; on disk it is './x.ts'.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': '@swc/jest' },
};
