// Jest's module loader loads everything anew for every spec file, in a sandbox: of 3 s for a spec of the whole
// application more than 2 were that. This one leaves loading to Node.js, once for all spec files of a worker. What a
// module keeps in memory is therefore shared by them, as it is by all requests of a service.
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import JestRuntime from 'jest-runtime';
import { setGlobals } from './jest-globals.mjs';
import { compile } from './typescript.mjs';

const require = createRequire(import.meta.url);

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

  /** The test framework itself: new for every spec file, since it keeps that file's tests and listeners. */
  requireInternalModule(path) {
    delete require.cache[path];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    return require(path);
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
