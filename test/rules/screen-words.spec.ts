import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { ENGLISH, IDENTIFIER } from '../support/stray-words.js';
import { sourceTexts } from './source-files.js';

interface Text {
  readonly where: string;
  readonly portuguese: string;
}

/** The Portuguese texts of a file: the first argument of each `t(…)`, without the values inside. */
function portugueseTexts(path: string, text: string): Text[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 't' && node.arguments.length === 2) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      for (const portuguese of literals(node.arguments[0]))
        found.push({ where: `${path}:${String(line + 1)}`, portuguese });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The texts of a literal, a template or the branches of a choice. */
function literals(node: ts.Node | undefined): string[] {
  if (node === undefined) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isTemplateExpression(node)) return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
  const found: string[] = [];
  ts.forEachChild(node, (child) => void found.push(...literals(child)));
  return found;
}

const faults = (texts: readonly Text[]): string[] =>
  texts.flatMap(({ where, portuguese }) =>
    ENGLISH.test(portuguese) || IDENTIFIER.test(portuguese) ? [`${where}: ${portuguese}`] : [],
  );

describe('the Portuguese texts of the screens', () => {
  it('have no English word and no name of the code', () => {
    const texts = sourceTexts('dashboard/src').flatMap(({ path, text }) => portugueseTexts(path, text));
    expect(texts.length).toBeGreaterThan(700);
    expect(faults(texts)).toEqual([]);
  });

  it.each([
    ["t('Payment recebido', 'Payment received')"],
    ["t('payment_link', 'Payment link')"],
    ['t(`Erro de ${name} em endToEndId`, `Error`)'],
    ["t(isPaid ? 'Paga' : 'Refund', 'Paid')"],
  ])('are found wrong in %s', (text) => {
    expect(faults(portugueseTexts('one.tsx', text))).toHaveLength(1);
  });
});
