// Jest's module loader loads everything anew for every spec file, in a sandbox: of 3 s for a spec of the whole
// application more than 2 were that. This one leaves loading to Node.js, once for all spec files of a worker. What a
// module keeps in memory is therefore shared by them, as it is by all requests of a service.
const { fileURLToPath, pathToFileURL } = require('node:url');
const { default: JestRuntime } = require('jest-runtime');
const { current } = require('./current.cjs');
const { compile } = require('./typescript.cjs');

class SourceMaps extends Map {
  get(source) {
    const path = source.startsWith('file:') ? fileURLToPath(source) : source;
    return path.endsWith('.ts') ? compile(path).map : undefined;
  }
}

module.exports = class NativeRuntime extends JestRuntime {
  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  /** The test framework itself: new for every spec file, since it keeps that file's tests and listeners. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals);
    current.globals = this.requireModuleOrMock(__filename, '@jest/globals');
  }

  /** So that a failure names lines of TypeScript. */
  getSourceMaps() {
    return new SourceMaps();
  }
};
