import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** A Jest environment that is Node.js itself and no imitation of it. */
export default class NativeEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.exit = process.exit;
  }

  async setup() {}

  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    process.exit = this.exit; // Jest wraps it for each spec file
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** There is no sandbox. */
  getVmContext() {
    return null;
  }
}
