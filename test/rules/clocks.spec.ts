import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { sourceTexts } from './source-files.js';

/** Matchers that a slow machine fails, by whether they follow `not` */
const UPPER_BOUNDS = {
  plain: ['toBeLessThan', 'toBeLessThanOrEqual', 'toBeCloseTo'],
  not: ['toBeGreaterThan', 'toBeGreaterThanOrEqual'],
};

const CLOCKS = /^(?:performance\.now|Date\.now|process\.uptime|process\.hrtime(?:\.bigint)?)$/;

const COMPARISONS: readonly ts.SyntaxKind[] = [
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
];

type Pair = readonly (ts.Node | undefined)[];

/**
 * Finds the assertions that a measured duration is short, as `line: text`. A duration is a difference of clocks. A name,
 * an array or a function of the file that holds or returns one counts too. Durations may be compared with each other,
 * since a slow machine slows both, and with a lower bound.
 */
function judgedDurations(text: string): string[] {
  if (!/\.now\(|\.uptime\(|hrtime/.test(text)) return [];
  const source = ts.createSourceFile('one.spec.ts', text, ts.ScriptTarget.Latest, true);
  const clocks = new Set<ts.Node>();
  const durations = new Set<ts.Node>();

  const hasClock = (node: ts.Node): boolean => {
    if (ts.isCallExpression(node) && CLOCKS.test(node.expression.getText())) return true;
    if (ts.isIdentifier(node)) return isIn(clocks, node);
    return !isFunction(node) && someChild(node, hasClock);
  };
  const hasDuration = (node: ts.Node): boolean => {
    if (ts.isIdentifier(node)) return isIn(durations, node);
    if (isFunction(node)) return results(node).some(hasDuration);
    if (ts.isBinaryExpression(node)) {
      const { left, right, operatorToken } = node;
      if (operatorToken.kind === ts.SyntaxKind.MinusToken && hasClock(left) && hasClock(right)) return true;
      // The ratio of two durations is none.
      if (operatorToken.kind === ts.SyntaxKind.SlashToken && hasDuration(right)) return false;
    }
    return someChild(node, hasDuration);
  };
  /** A comparison of a duration with anything else */
  const compares = (node: ts.Node): boolean =>
    (ts.isBinaryExpression(node) &&
      COMPARISONS.includes(node.operatorToken.kind) &&
      hasDuration(node.left) !== hasDuration(node.right)) ||
    someChild(node, compares);

  /** Notes what each declaration, assignment, `push` and `set` stores. */
  const note = (node: ts.Node): void => {
    const [target, value] = stored(node);
    const declared = target && ts.isIdentifier(target) && declarationOf(target);
    if (declared && value) {
      if (hasDuration(value)) durations.add(declared);
      else if (hasClock(value)) clocks.add(declared);
    }
    ts.forEachChild(node, note);
  };
  for (let known = -1; known < clocks.size + durations.size;) {
    known = clocks.size + durations.size;
    note(source);
  }

  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const [subject, bound] = ts.isCallExpression(node) ? upperBound(node) : [];
    const isJudged = subject && (bound ? hasDuration(subject) && !hasDuration(bound) : compares(subject));
    if (isJudged) found.push(`${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function someChild(node: ts.Node, test: (child: ts.Node) => boolean): boolean {
  return ts.forEachChild(node, (child) => test(child) || undefined) ?? false;
}

function isIn(nodes: ReadonlySet<ts.Node>, name: ts.Identifier): boolean {
  const declared = declarationOf(name);
  return declared !== undefined && nodes.has(declared);
}

function isFunction(node: ts.Node): node is ts.ArrowFunction | ts.FunctionDeclaration | ts.FunctionExpression {
  return ts.isArrowFunction(node) || ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node);
}

function results({ body }: ts.ArrowFunction | ts.FunctionDeclaration | ts.FunctionExpression): ts.Node[] {
  if (!body) return [];
  if (!ts.isBlock(body)) return [body];
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression) found.push(node.expression);
    if (!isFunction(node)) ts.forEachChild(node, visit);
  };
  visit(body);
  return found;
}

/** Returns the name that the node stores something under, and the stored value. */
function stored(node: ts.Node): Pair {
  if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name)) return [node.name, node.initializer];
  if (ts.isBindingElement(node) && ts.isIdentifier(node.name)) {
    return [node.name, ts.isVariableDeclaration(node.parent.parent) ? node.parent.parent.initializer : undefined];
  }
  if (ts.isFunctionDeclaration(node)) return [node.name, node];
  if (ts.isBinaryExpression(node) && /^(?:[+-]?=|\?\?=)$/.test(node.operatorToken.getText())) {
    return ts.isIdentifier(node.left) ? [node.left, node.right] : [];
  }
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return [];
  const { expression: list, name } = node.expression;
  const isStore = ts.isIdentifier(list) && ['push', 'set', 'add', 'unshift'].includes(name.text);
  return isStore ? [list, node.arguments.at(-1)] : [];
}

/** Looks in the scopes around a name. */
function declarationOf(name: ts.Identifier): ts.Node | undefined {
  const { parent } = name;
  const isProperty = (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) && parent.name === name;
  if (isProperty) return undefined;
  for (let scope: ts.Node = name; scope !== name.getSourceFile();) {
    scope = scope.parent;
    if (!ts.isSourceFile(scope) && !ts.isBlock(scope) && !isFunction(scope) && !ts.isForStatement(scope)) continue;
    const found = declaredIn(scope, name.text);
    if (found) return found;
  }
  return undefined;
}

function declaredIn(scope: ts.Node, name: string): ts.Node | undefined {
  const search = (node: ts.Node): ts.Node | undefined => {
    const isDeclared =
      (ts.isVariableDeclaration(node) ||
        ts.isBindingElement(node) ||
        ts.isParameter(node) ||
        ts.isFunctionDeclaration(node)) &&
      node.name !== undefined &&
      ts.isIdentifier(node.name) &&
      node.name.text === name;
    if (isDeclared) return node;
    const isInner = ts.isBlock(node) || isFunction(node) || ts.isExpressionStatement(node);
    return isInner ? undefined : ts.forEachChild(node, search);
  };
  return ts.forEachChild(scope, search);
}

/** Returns the subject of an assertion and its upper bound, or only the subject if the matcher takes no bound. */
function upperBound({ expression: matcher, arguments: [bound] }: ts.CallExpression): Pair {
  if (!ts.isPropertyAccessExpression(matcher)) return [];
  const isNegated = ts.isPropertyAccessExpression(matcher.expression) && matcher.expression.name.text === 'not';
  let call: ts.Expression = matcher.expression;
  while (ts.isPropertyAccessExpression(call)) call = call.expression;
  if (!ts.isCallExpression(call) || call.expression.getText() !== 'expect') return [];
  const [subject] = call.arguments;
  if (UPPER_BOUNDS[isNegated ? 'not' : 'plain'].includes(matcher.name.text)) return [subject, bound];
  return [subject];
}

const STARTED = 'const started = performance.now();';

describe('an assertion on a difference of clocks', () => {
  it.each([
    ['of a constant', `${STARTED} work(); expect(performance.now() - started).toBeLessThan(500);`],
    ['of a name', `${STARTED} const took = Date.now() - started; expect(took).toBeLessThanOrEqual(LIMIT_MS);`],
    ['in seconds', `${STARTED} expect((performance.now() - started) / 1000).toBeLessThan(2);`],
    [
      'of the slowest',
      `${STARTED} const times = []; times.push(performance.now() - started); expect(Math.max(...times)).toBeLessThan(9);`,
    ],
    [
      'of a function',
      `const timed = () => { ${STARTED} work(); return performance.now() - started; }; expect(await timed()).toBeLessThan(1);`,
    ],
    [
      'of the results of a function',
      `async function p99() { const all = []; ${STARTED} all.push(performance.now() - started); return all[0] ?? 0; } it('', async () => { const alone = await p99(); expect(alone).toBeLessThan(50); });`,
    ],
    [
      'of a field',
      `const one = () => { ${STARTED} return { ms: performance.now() - started }; }; const { ms } = one(); expect(ms).toBeLessThan(5);`,
    ],
    ['beside a slack', `${STARTED} expect(performance.now() - started).toBeLessThan(3 * LIMIT + 50);`],
    ['by not', `${STARTED} expect(performance.now() - started).not.toBeGreaterThan(500);`],
    ['by a boolean', `${STARTED} expect(performance.now() - started < 500).toBe(true);`],
    ['by another clock', `const from = process.uptime(); expect(process.uptime() - from).toBeLessThan(1);`],
  ])('is found: %s', (_what, text) => {
    expect(judgedDurations(text)).toHaveLength(1);
  });

  it.each([
    ['a lower bound', `${STARTED} expect(performance.now() - started).toBeGreaterThan(250);`],
    [
      'a ratio',
      `const timed = () => { ${STARTED} return performance.now() - started; }; expect(timed() / timed()).toBeLessThan(3);`,
    ],
    [
      'ratios in a list',
      `const timed = () => { ${STARTED} return performance.now() - started; }; const ratios = []; const alone = timed(); ratios.push(timed() / alone); expect(Math.min(...ratios)).toBeLessThan(3);`,
    ],
    [
      'one duration below another',
      `const timed = () => { ${STARTED} return performance.now() - started; }; const idle = timed(); expect(timed()).toBeLessThan(5 * idle);`,
    ],
    [
      'a count that may grow with time',
      `${STARTED} expect(calls.length).toBeLessThanOrEqual(1 + (performance.now() - started) / 1_000);`,
    ],
    ['a time of the past', `const hourAgo = Date.now() - 3_600_000; expect(list(hourAgo).length).toBeLessThan(3);`],
    ['two rows', `expect(Date.parse(a.end) - Date.parse(a.start)).toBeLessThan(60_000);`],
    [
      'a deadline',
      `const until = Date.now() + 1_500; await waitFor('it', () => Date.now() > until); expect(count).toBeLessThan(3);`,
    ],
    [
      'a name of another scope',
      `it('a', () => { ${STARTED} const took = performance.now() - started; print(took); }); it('b', () => { const took = 3; expect(took).toBeLessThan(4); });`,
    ],
  ])('is not: %s', (_what, text) => {
    expect(judgedDurations(text)).toEqual([]);
  });

  it('is in no spec: a slow machine would fail it by chance', () => {
    const specs = sourceTexts('src', 'test', 'tools').filter(
      ({ path }) => path.endsWith('.spec.ts') || path.startsWith('test/'),
    );
    const found = specs.flatMap(({ path, text }) => judgedDurations(text).map((judged) => `${path}:${judged}`));
    expect(specs.length).toBeGreaterThan(250);
    expect(found).toEqual([]);
  });
});
