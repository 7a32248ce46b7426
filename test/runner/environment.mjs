import { appendFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

let lastSpec = 'before the first spec file';

/** An error after the end of its spec file belongs to no test: tools/scripts/test.mjs gets and counts it. */
function tellLateFailure(error) {
  const path = process.env.TEST_LATE_FAILURES;
  const text = inspect(error);
  if (path) appendFileSync(path, `${JSON.stringify({ spec: lastSpec, text })}\n`);
  process.stderr.write(`A failure after the end of ${lastSpec}: ${text}\n`);
}

// While a spec file runs, Jest has its own listeners in the place of these.
process.on('unhandledRejection', tellLateFailure);
process.on('uncaughtException', tellLateFailure);

/** A Jest environment that is Node.js itself and no imitation of it. */
export default class NativeEnvironment {
  constructor({ projectConfig }, { testPath }) {
    lastSpec = testPath;
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimers = null;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    this.before = { env: { ...process.env }, cwd: process.cwd(), exit: process.exit };
  }

  async setup() {}

  /** The next spec file of this worker finds the process as this one found it. */
  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    const { env, cwd, exit } = this.before;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    process.chdir(cwd);
    process.exit = exit; // Jest wraps it for each spec file
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** There is no sandbox. */
  getVmContext() {
    return null;
  }
}
