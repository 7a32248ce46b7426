import Sequencer from '@jest/test-sequencer';

/** Half a minute and more each: begun last, one of them would run alone while other processors rest. */
const LONG = /\/test\/stress\/|\/(local-servers|start\.e2e|readme\.e2e|resend\.e2e|live-faults\.e2e|evidence\.e2e)\./;

/** On a machine that has not run the specs before Jest only knows the sizes of their files. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    const isLong = ({ path }) => LONG.test(path);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
}
