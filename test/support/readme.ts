import { readFileSync } from 'node:fs';

/** A block of shell commands in README.md. */
export interface ShellBlock {
  /** Of its first command in the file. */
  readonly line: number;
  readonly text: string;
  /** Why it is not run, as a comment before it says that readers do not see; null: it is. */
  readonly notRun: string | null;
  /** What it prints once it is ready, of one that runs in a terminal of its own; null: it runs with the others. */
  readonly readyWhen: string | null;
}

const MARK = /^<!-- (?:not run: (?<reason>.+)|in another terminal, until: (?<ready>.+)) -->$/;

/** @throws Error for a comment that is no mark: it would be passed over */
export function shellBlocks(path = 'README.md'): ShellBlock[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const blocks: ShellBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] !== '```sh') continue;
    const end = lines.indexOf('```', at);
    const before = lines.slice(0, at).findLast((line) => line !== '') ?? '';
    const mark = MARK.exec(before)?.groups;
    if (before.startsWith('<!--') && !mark) throw new Error(`${path}:${at}: "${before}" is no mark of a block`);
    blocks.push({
      line: at + 2,
      text: `${lines.slice(at + 1, end).join('\n')}\n`,
      notRun: mark?.['reason'] ?? null,
      readyWhen: mark?.['ready'] ?? null,
    });
    at = end;
  }
  return blocks;
}

/** What the fences of all code blocks say they are. */
export function codeLanguages(path = 'README.md'): string[] {
  const fences = readFileSync(path, 'utf8').match(/^```.*$/gm) ?? [];
  return [...new Set(fences.filter((_fence, index) => index % 2 === 0).map((fence) => fence.slice(3)))];
}
