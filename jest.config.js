/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testTimeout: 20_000,
  setupFiles: ['<rootDir>/test/support/property-seed.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  // Sources import './x.js' as ES modules require; on disk it is './x.ts'.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': '@swc/jest' },
};
