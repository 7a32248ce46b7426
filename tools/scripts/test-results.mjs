// Results of `npm test`: which files run again, and the last lines.
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** More failed files than this are not due to chance. */
const RUN_AGAIN = 5;

const isFailed = ({ status }) => status === 'failed';

/**
 * Runs failed files again, alone, and files with failures after their end. On a busy machine a test may time out
 * without a fault of the program. The second run of a file counts, even if another file fails again.
 * @param first a run of Jest: { isWhole, files, late }, with `files` null where Jest gave no results
 * @param runAlone runs these paths, one at a time
 * @returns a run, with the paths in `passedAlone` that failed and then passed
 */
export async function withSecondRun(first, runAlone) {
  if (first.files === null) return first;
  const names = new Set(first.files.map(({ name }) => name));
  const isRepeatable = ({ spec }) => names.has(spec);
  const failed = first.files.filter(isFailed).map(({ name }) => name);
  const doubtful = [...new Set([...failed, ...first.late.filter(isRepeatable).map(({ spec }) => spec)])];
  if (doubtful.length === 0 || doubtful.length > RUN_AGAIN) return first;
  const second = await runAlone(doubtful);
  const again = new Map((second.files ?? []).map((file) => [file.name, file]));
  if (doubtful.some((name) => !again.has(name))) return first;
  const late = [...first.late.filter((failure) => !isRepeatable(failure)), ...second.late];
  return {
    isWhole: second.isWhole,
    files: first.files.map((file) => again.get(file.name) ?? file),
    late,
    passedAlone: doubtful.filter((name) => !isFailed(again.get(name)) && !late.some(({ spec }) => spec === name)),
  };
}

/** @returns the counts of the last line; a failure without a failed test counts as one */
export function countResults(runs) {
  const files = runs.flatMap((run) => run.files ?? []);
  const tests = files.flatMap((file) => file.assertionResults);
  const count = (...statuses) => tests.filter(({ status }) => statuses.includes(status)).length;
  // If a file did not load or its hooks failed, it has no failed test, but it failed.
  const withoutTest = files.filter((file) => isFailed(file) && !file.assertionResults.some(isFailed)).length;
  const late = runs.flatMap((run) => run.late).length;
  const [passed, skipped] = [count('passed'), count('pending', 'todo')];
  const failed = count('failed') + withoutTest + late;
  const isWhole = passed + skipped > 0 && runs.every((run) => run.isWhole);
  return { passed, failed: Math.max(failed, isWhole ? 0 : 1), skipped };
}

/** Repeats each failure with its first lines at the end, for readers who do not search the output of 300 files. */
export function failureLines(root, files) {
  return files.filter(isFailed).flatMap(({ name, message, assertionResults }) => {
    const told = assertionResults.filter(isFailed).map((one) => [one.fullName, one.failureMessages.join('\n')]);
    return (told.length > 0 ? told : [['outside of its tests', message]]).map(([title, text]) => {
      const lines = stripVTControlCharacters(text)
        .split('\n')
        .filter((line) => line.trim() !== '');
      return `\nFailed: ${relative(root, name)}: ${title}\n  ${lines.slice(0, 12).join('\n  ')}`;
    });
  });
}

/** The text that test/support/needs.ts adds to the name of a skipped test. */
const NEED = / \[skipped: ([^\]]+)\]/;

/** @returns a line for each missing program that tests need */
export function skippedLines(files) {
  const counts = new Map();
  for (const { fullName, status } of files.flatMap((file) => file.assertionResults)) {
    const need = status === 'pending' ? NEED.exec(fullName)?.[1] : undefined;
    if (need !== undefined) counts.set(need, (counts.get(need) ?? 0) + 1);
  }
  return [...counts].sort().map(([need, count]) => `Skipped ${count}: ${need}`);
}
