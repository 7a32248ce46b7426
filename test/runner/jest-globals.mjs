// Exports of '@jest/globals'. Modules stay loaded from one spec file to the next, and each file has functions of its
// own: the exports lead to the functions of the running file.
let current = {};

const MODULE_MOCKS = /mock$|mockModule$|resetModules|isolateModules|requireActual|requireMock/i;

export function setGlobals(globals) {
  current = globals;
}

const forward = (name) =>
  new Proxy(() => undefined, {
    apply: (_, self, args) => Reflect.apply(current[name], self, args),
    get: (_, property) => {
      if (name === 'jest' && MODULE_MOCKS.test(property)) {
        throw new Error(`jest.${property} does nothing here: modules stay loaded from one spec file to the next`);
      }
      return current[name][property];
    },
  });

export const afterAll = forward('afterAll');
export const afterEach = forward('afterEach');
export const beforeAll = forward('beforeAll');
export const beforeEach = forward('beforeEach');
export const describe = forward('describe');
export const expect = forward('expect');
export const it = forward('it');
export const jest = forward('jest');
export const test = forward('test');
