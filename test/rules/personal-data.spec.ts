import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from './source-files.js';

const DECISIONS = ['Personal', 'NotPersonal'];
/** Column types that hold text */
const WORDS = ['text', 'varchar', 'citext', 'json', 'jsonb', 'bytea'];

interface Called {
  readonly name: string;
  readonly args: readonly string[];
}

function decoratorsOf(node: ts.HasDecorators): Called[] {
  return (ts.getDecorators(node) ?? []).flatMap(({ expression }) =>
    ts.isCallExpression(expression)
      ? [{ name: expression.expression.getText(), args: expression.arguments.map((each) => each.getText()) }]
      : [],
  );
}

/** A named type is a list of values; `string` is free text. */
function holdsWords(column: Called, type: string): boolean {
  const kind = column.args[0]?.slice(1, -1) ?? '';
  if (!WORDS.includes(kind)) return false;
  return kind.startsWith('json') || /\b(?:string|Buffer|unknown)\b/.test(type);
}

/** Lists text columns of entities without a decision on whether they hold personal data. */
function undecided(path: string, text: string): string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return source.statements.filter(ts.isClassDeclaration).flatMap((declared) => {
    const isDecided = (node: ts.HasDecorators): boolean =>
      decoratorsOf(node).some(
        ({ name, args }) => DECISIONS.includes(name) && (name !== 'NotPersonal' || (args[0]?.length ?? 0) > 5),
      );
    if (isDecided(declared)) return [];
    return declared.members.filter(ts.isPropertyDeclaration).flatMap((property) => {
      const column = decoratorsOf(property).find(({ name }) => name === 'Column' || name === 'PrimaryColumn');
      if (!column || isDecided(property) || !holdsWords(column, property.type?.getText() ?? 'unknown')) return [];
      return [`${path}: ${declared.name?.text ?? ''}.${property.name.getText()}`];
    });
  });
}

const entities = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.entity.ts'))
  .map((name) => `src/${name}`);

describe('personal data', () => {
  it('is in no text column without a decision (@Personal, or @NotPersonal and why)', () => {
    expect(entities.length).toBeGreaterThan(20);
    expect(entities.flatMap((path) => undecided(path, readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
  });

  it('is searched for in every entity, since all entities are in files of that name', () => {
    const others = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.entity.ts') && !name.endsWith('.spec.ts'))
      .filter((name) => /^@Entity\(/m.test(readFileSync(join(ROOT, 'src', name), 'utf8')));
    expect(others).toEqual([]);
  });

  it.each([
    [`@Column('text') readonly address!: string;`, true],
    [`@Column('text', { nullable: true }) readonly address!: string | null;`, true],
    [`@Column('text', { array: true }) readonly names!: readonly string[];`, true],
    [`@Column('jsonb') readonly address!: Address;`, true],
    [`@Column('bytea') readonly sealed!: Buffer;`, true],
    [`@NotPersonal('') @Column('text') readonly address!: string;`, true],
    [`@Personal() @Column('text') readonly address!: string;`, false],
    [`@NotPersonal('an id') @Column('text') readonly address!: string;`, false],
    [`@Column('text') readonly status!: Status;`, false],
    [`@Column('text') readonly status!: 'open' | 'done';`, false],
    [`@Column('uuid') readonly id!: string;`, false],
  ])('needs a decision where a column is %s: %s', (property, isFound) => {
    const found = undecided('x.entity.ts', `@Entity('parcels') export class Parcel { ${property} }`);
    expect(found.length > 0).toBe(isFound);
    const decided = `@NotPersonal('parcels') @Entity('parcels') export class Parcel { ${property} }`;
    expect(undecided('x.entity.ts', decided)).toEqual([]);
  });
});
