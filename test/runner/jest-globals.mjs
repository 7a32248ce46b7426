// What '@jest/globals' exports. Modules stay loaded from one spec file to the next, each of which has functions of its
// own: the exports lead to those of the spec file that is running.
let current = {};

export function setGlobals(globals) {
  current = globals;
}

const lead = (name) =>
  new Proxy(() => undefined, {
    apply: (_, self, args) => Reflect.apply(current[name], self, args),
    get: (_, property) => current[name][property],
  });

export const afterAll = lead('afterAll');
export const afterEach = lead('afterEach');
export const beforeAll = lead('beforeAll');
export const beforeEach = lead('beforeEach');
export const describe = lead('describe');
export const expect = lead('expect');
export const it = lead('it');
export const jest = lead('jest');
export const test = lead('test');
