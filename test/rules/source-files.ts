import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The top of the repository. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export interface Reference {
  /** As written, for example `../core/errors/index.js`. */
  readonly specifier: string;
  /** Path from the top of the repository for a relative one, for example `src/core/errors/index.ts`; null for a package. */
  readonly target: string | null;
  readonly line: number;
}

export interface SourceFile {
  /** Path from the top of the repository, with `/`. */
  readonly path: string;
  readonly references: readonly Reference[];
  /** Constructs of the language or of a library that the project does without, each as `name (line)`. */
  readonly oddities: readonly string[];
}

/** Every TypeScript file under `folders`, parsed: an import in a comment or a text is none, one over many lines is one. */
export function readSources(...folders: string[]): SourceFile[] {
  return sourceTexts(...folders).map(({ path, text }) => parseText(path, text));
}

/** Every TypeScript file under `folders`, as it is written. */
export function sourceTexts(...folders: string[]): { path: string; text: string }[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
      .map((name) => {
        const file = join(ROOT, folder, name);
        return { path: relative(ROOT, file).split(sep).join('/'), text: readFileSync(file, 'utf8') };
      }),
  );
}

/** Exported so that the rules themselves can be shown to fail on a file that breaks them. */
export function parseText(path: string, text: string): SourceFile {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const references: Reference[] = [];
  const oddities: string[] = [];
  const lineOf = (position: number): number => source.getLineAndCharacterOfPosition(position).line + 1;
  const refer = (node: ts.Node | undefined): void => {
    if (!node || !ts.isStringLiteralLike(node)) return;
    references.push({ specifier: node.text, target: targetOf(path, node.text), line: lineOf(node.getStart()) });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) refer(node.moduleSpecifier);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) refer(node.argument.literal);
    else if (ts.isExternalModuleReference(node)) refer(node.expression);
    else if (ts.isModuleDeclaration(node)) refer(node.name);
    else if (ts.isCallExpression(node) && isImportCall(node)) refer(node.arguments[0]);
    const oddity = oddityOf(node);
    if (oddity !== null) oddities.push(`${oddity} (line ${lineOf(node.getStart())})`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const comment of commentsOf(text)) {
    // Not @ts-expect-error: it is itself checked, and the way to prove that something does not compile.
    const directive = /eslint-disable[a-z-]*|@ts-(?:ignore|nocheck)/.exec(comment.text);
    if (directive) oddities.push(`${directive[0]} (line ${lineOf(comment.at)})`);
  }
  return { path, references, oddities };
}

function targetOf(path: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return posix.normalize(posix.join(posix.dirname(path), specifier)).replace(/\.js$/, '.ts');
}

function isImportCall(node: ts.CallExpression): boolean {
  return (
    node.expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(node.expression) && node.expression.text === 'require')
  );
}

const WRITES =
  /\b(?:INSERT INTO|UPDATE|DELETE FROM|FOR (?:NO KEY )?UPDATE|FOR (?:KEY )?SHARE|TRUNCATE|LOCK TABLE|SET LOCAL|set_config|pg_advisory_\w*lock|request_logs_\w+|audit_events_remove)\b/;

/** Settings of the transaction need one too. `read(…)` and `write(…)` of core/database say whether a statement may be asked outside a transaction. */
function misnamedStatement(node: ts.Node): string | null {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return null;
  const [name, text] = node.arguments;
  const kind = node.expression.text;
  if ((kind !== 'read' && kind !== 'write') || !name || !text || !ts.isStringLiteralLike(name)) return null;
  const writes = WRITES.test(text.getText());
  if (kind === 'read') return writes ? 'read of what writes' : null;
  return writes || ts.isTemplateExpression(text) || ts.isCallExpression(text) ? null : 'write of what only reads';
}

function oddityOf(node: ts.Node): string | null {
  const misnamed = misnamedStatement(node);
  if (misnamed !== null) return misnamed;
  if (node.kind === ts.SyntaxKind.AnyKeyword) return 'any';
  if (ts.isIdentifier(node) && node.text === 'forwardRef') return 'forwardRef';
  if (ts.isEnumDeclaration(node)) return 'enum';
  if (ts.isExportAssignment(node)) return 'default export';
  if (
    ts.isPropertyAccessExpression(node) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'console' &&
    // `.console` of something else is not the global one.
    !ts.isPropertyAccessExpression(node.parent)
  ) {
    return `console.${node.name.text}`;
  }
  return null;
}

function commentsOf(text: string): { text: string; at: number }[] {
  const comments: { text: string; at: number }[] = [];
  const scan = (node: ts.Node): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of ranges) {
      if (!comments.some((known) => known.at === pos)) comments.push({ text: text.slice(pos, end), at: pos });
    }
    node.getChildren().forEach(scan);
  };
  scan(ts.createSourceFile('comments.ts', text, ts.ScriptTarget.Latest, true));
  return comments;
}
