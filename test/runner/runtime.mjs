// Jest's module loader loads everything anew for every spec file, in a sandbox: more than 2 of 3 s for a spec of the
// whole application. This loader leaves loading to Node.js, once for all spec files of a worker. All files therefore
// share the memory of modules and the global objects: a spec undoes its changes. Mocks, timers, process.env and the
// working directory are restored after each file (environment.mjs); mocks of modules do not work.
import asyncHooks, { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import JestRuntime from 'jest-runtime';
import { setGlobals } from './jest-globals.mjs';
import { compile } from './typescript.mjs';

const require = createRequire(import.meta.url);

/** Names of the symbols under which jest-circus keeps what a spec file has set, as by jest.setTimeout. */
const FRAMEWORK_STATE = [
  'EVENT_HANDLERS',
  'LOG_ERRORS_BEFORE_RETRY',
  'RETRY_IMMEDIATELY',
  'RETRY_TIMES',
  'TEST_TIMEOUT_SYMBOL',
  'WAIT_BEFORE_RETRY',
];

/** Storages that the test framework has made for this spec file */
const storages = [];

class FrameworkStorage extends AsyncLocalStorage {
  constructor(...options) {
    super(...options);
    storages.push(this);
  }
}

class SourceMaps extends Map {
  get(source) {
    const path = source.startsWith('file:') ? fileURLToPath(source) : source;
    return path.endsWith('.ts') ? compile(path).map : undefined;
  }
}

export default class NativeRuntime extends JestRuntime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  /**
   * Loads the test framework anew for every spec file, because it stores the tests, listeners and settings of that
   * file.
   */
  requireInternalModule(path) {
    delete require.cache[path];
    for (const name of FRAMEWORK_STATE) delete globalThis[Symbol.for(name)];
    // Since Node.js 24 this property is read-only and the call has no effect. There, an unused storage costs nothing.
    Reflect.set(asyncHooks, 'AsyncLocalStorage', FrameworkStorage);
    try {
      return require(path);
    } finally {
      Reflect.set(asyncHooks, 'AsyncLocalStorage', AsyncLocalStorage);
    }
  }

  /** Each storage that was used once costs every later promise of the process, until it is disabled. */
  teardown() {
    super.teardown();
    for (const storage of storages.splice(0)) storage.disable();
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    setGlobals(this.requireModuleOrMock(import.meta.filename, '@jest/globals'));
  }

  /** So that a failure names lines of TypeScript. */
  getSourceMaps() {
    return new SourceMaps();
  }
}
