import { writeFileSync } from 'node:fs';

/**
 * Writes what tools/scripts/test.mjs counts to the file in TEST_RESULTS. Jest's own `--json` also writes the errors that
 * were thrown, and writes nothing where one of them contains itself.
 */
export default class ResultsReporter {
  constructor({ testNamePattern }) {
    /** With `-t` Jest also reports the tests that it left out, as pending. */
    this.names = testNamePattern ? new RegExp(testNamePattern, 'i') : /^/;
  }

  onRunComplete(_, { testResults }) {
    if (!process.env.TEST_RESULTS) return; // Jest was started by hand
    const files = testResults.map(({ testFilePath, testExecError, numFailingTests, failureMessage, ...file }) => ({
      name: testFilePath,
      status: testExecError || numFailingTests > 0 ? 'failed' : 'passed',
      message: failureMessage ?? '',
      durationMs: file.perfStats.end - file.perfStats.start,
      assertionResults: file.testResults
        .filter(({ fullName }) => this.names.test(fullName))
        .map(({ fullName, status, failureMessages }) => ({ fullName, status, failureMessages })),
    }));
    writeFileSync(process.env.TEST_RESULTS, JSON.stringify(files));
  }
}
