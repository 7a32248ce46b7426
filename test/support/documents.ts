import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** A block of shell commands in a document. */
export interface ShellBlock {
  readonly path: string;
  /** Line of the first command in the file */
  readonly line: number;
  readonly text: string;
  /** Why it is not run, as a comment before it says that readers do not see; null: it is. */
  readonly notRun: string | null;
  /**
   * The line that a program prints when ready, if the block runs in a terminal of its own; null: it runs with the
   * others
   */
  readonly readyWhen: string | null;
}

export interface Link {
  readonly path: string;
  readonly line: number;
  /** As written, for example `going-live.md#rehearsing-it`. */
  readonly target: string;
  /** The file it leads to, from the top of the repository. */
  readonly file: string;
  /** The heading it leads to; null: the whole file. */
  readonly anchor: string | null;
}

const MARK = /^<!-- (?:not run: (?<reason>.+)|in another terminal, until: (?<ready>.+)) -->$/;

/** README.md, then what its list of documents links, in that order: the order in which they are read and run. */
export function readingOrder(): string[] {
  const list = linksOf('README.md').filter(({ line }) => line > lineOf('README.md', '## Documentation'));
  return ['README.md', ...new Set(list.map(({ file }) => file).filter((file) => file.endsWith('.md')))];
}

/** Every document of the repository. */
export function allDocuments(): string[] {
  const isDocument = (name: string): boolean => name.endsWith('.md');
  const names = readdirSync('docs', { recursive: true, encoding: 'utf8' }).filter(isDocument);
  return [...readdirSync('.').filter(isDocument), ...names.map((name) => join('docs', name))].sort();
}

/** @throws Error for a comment that is no mark: it would be passed over */
export function shellBlocks(path: string): ShellBlock[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  const blocks: ShellBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] !== '```sh') continue;
    const end = lines.indexOf('```', at);
    const before = lines.slice(0, at).findLast((line) => line !== '') ?? '';
    const mark = MARK.exec(before)?.groups;
    if (before.startsWith('<!--') && !mark) throw new Error(`${path}:${at}: "${before}" is no mark of a block`);
    blocks.push({
      path,
      line: at + 2,
      text: `${lines.slice(at + 1, end).join('\n')}\n`,
      notRun: mark?.['reason'] ?? null,
      readyWhen: mark?.['ready'] ?? null,
    });
    at = end;
  }
  return blocks;
}

/** The text of the first block in `language`. */
export function firstBlock(path: string, language: string): string {
  const text = readFileSync(path, 'utf8');
  const begin = text.indexOf(`\n\`\`\`${language}\n`) + language.length + 5;
  return text.slice(begin, text.indexOf('\n```', begin) + 1);
}

/** Languages that the fences of all code blocks name */
export function codeLanguages(path: string): string[] {
  const fences = readFileSync(path, 'utf8').match(/^```.*$/gm) ?? [];
  return [...new Set(fences.filter((_fence, index) => index % 2 === 0).map((fence) => fence.slice(3)))];
}

/** Links to files of the repository and to headings; not to other sites. */
export function linksOf(path: string): Link[] {
  return proseOf(path).flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => {
        const [name = '', anchor = null] = target.split('#');
        const file = name === '' ? path : posix.join(posix.dirname(path), name);
        return { path, line: index + 1, target, file, anchor };
      }),
  );
}

/** The anchors of a file's headings, as GitHub makes them. */
export function anchorsOf(path: string): string[] {
  const seen = new Map<string, number>();
  return proseOf(path).flatMap((text) => {
    const heading = /^#{1,6} (.+)$/.exec(text)?.[1];
    if (heading === undefined) return [];
    const words = heading.replace(/\]\([^)]*\)/g, '').toLowerCase();
    const anchor = words.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return [count === 0 ? anchor : `${anchor}-${count}`];
  });
}

/** The lines of a file; those of code blocks are empty. */
function proseOf(path: string): string[] {
  let isCode = false;
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => {
      const isFence = line.startsWith('```');
      if (isFence) isCode = !isCode;
      return isFence || isCode ? '' : line;
    });
}

function lineOf(path: string, text: string): number {
  return readFileSync(path, 'utf8').split('\n').indexOf(text) + 1;
}
