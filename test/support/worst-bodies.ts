import type { Operation, OpenApiDocument, Schema } from './openapi.js';

export const MAX_BODY_BYTES = 64 * 1024;

/** JSON text of about so many bytes. */
export type Shape = (bytes: number) => string;

function repeated(unit: string, bytes: number, separator = ','): string {
  return Array.from({ length: Math.max(1, Math.floor(bytes / (unit.length + separator.length))) }, () => unit).join(
    separator,
  );
}

/** Keys or items that differ: `make` gets their number, and all have about the length of the hundred thousandth. */
function numbered(make: (index: number) => string, bytes: number): string {
  const parts: string[] = [];
  for (let size = 0, index = 0; size < bytes; index++) {
    const part = make(index);
    parts.push(part);
    size += Buffer.byteLength(part) + 1;
  }
  return parts.join(',');
}

/** A tree whose branches all have `width` twigs. */
function tree(width: number, depth: number, twig: string): string {
  return depth === 0
    ? twig
    : `{${Array.from({ length: width }, (_, i) => `"${i}":${tree(width, depth - 1, twig)}`).join(',')}}`;
}

const list =
  (unit: string): Shape =>
  (bytes) =>
    `[${repeated(unit, bytes - 2)}]`;
const text =
  (unit: string): Shape =>
  (bytes) =>
    `"${repeated(unit, bytes - 2, '')}"`;
const keys =
  (make: (index: number) => string): Shape =>
  (bytes) =>
    `{${numbered(make, bytes - 2)}}`;

/** Values that have been dear to somebody's server. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  'lists in lists': (bytes) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
  'objects in objects': (bytes) => `${'{"a":'.repeat(bytes / 6)}1${'}'.repeat(bytes / 6)}`,
  'long keys in each other': (bytes) => {
    const key = 'k'.repeat(bytes / 19 - 6);
    return `${`{"${key}":`.repeat(18)}${list('"\\u0000"')(bytes / 19)}${'}'.repeat(18)}`;
  },
  'a tree': (bytes) => tree(Math.floor((bytes / 12) ** 0.25), 4, '"\\u0000"'),
  'many keys': keys((index) => `"k${index}":0`),
  'many short keys': keys((index) => `"${index.toString(36)}":1`),
  'many whole numbers as keys': keys((index) => `"${index * 16_777_216}":1`),
  'one key many times': (bytes) => `{${repeated('"a":1', bytes - 2)}}`,
  'one escaped key many times': (bytes) => `{${repeated('"\\u0061":1', bytes - 2)}}`,
  'many keys with NUL': keys((index) => `"${index.toString(36)}\\u0000":1`),
  'many values with NUL': keys((index) => `"${index.toString(36)}":"\\u0000"`),
  'many forbidden keys': (bytes) => `{${repeated('"__proto__":{}', bytes - 2)}}`,
  'many objects': list('{}'),
  'many objects with a key': list('{"a":1}'),
  'many lists': list('[]'),
  'many zeros': list('0'),
  'many empty texts': list('""'),
  'many texts': list('"*"'),
  'many different texts': (bytes) => `[${numbered((index) => `"charge.${index}"`, bytes - 2)}]`,
  'many nulls': list('null'),
  'many NULs': list('"\\u0000"'),
  'many lone surrogates': list('"\\ud800"'),
  'many exact long numbers': list('9007199254740991'),
  'many lossy numbers': list('9007199254740993'),
  'many numbers too large': list('1e400'),
  'many numbers with exponents': list('1e300'),
  'many fractions': list('0.12345678901234567'),
  'one long number': (bytes) => repeated('1', bytes, ''),
  'one long fraction': (bytes) => `0.${repeated('0', bytes - 3, '')}1`,
  'one text of letters': text('a'),
  'one text of digits': text('1'),
  'one text of line breaks': text('\\n'),
  'one text of blanks': text(' '),
  'one text of escaped letters': text('\\u0061'),
  'one text of NULs': text('\\u0000'),
  'one text of lone surrogates': text('\\udc00'),
  'one text of quotation marks': text('\\"'),
  'one text of at signs': text('@'),
  'one address': (bytes) => `"${'a'.repeat(bytes / 2 - 8)}@${'a.'.repeat(bytes / 4)}br"`,
  'one host': (bytes) => `"https://${repeated('a.', bytes - 14, '')}br/"`,
  'one text of dots': text('.'),
  'one text of joined emoji': text('👩\u200d'),
  'one text of combining marks': text('\u0301'),
  'one text of capital dotted I': text('İ'),
  'blanks before it': (bytes) => `${repeated('\n', bytes - 2, '')}1`,
};

/** JSON in a text, as `payload` of a verification has it. */
export const QUOTED: Readonly<Record<string, Shape>> = Object.fromEntries(
  ['many keys', 'many objects', 'many zeros', 'lists in lists', 'many different texts', 'one text of digits'].map(
    (name) => [`quoted: ${name}`, (bytes: number) => JSON.stringify(SHAPES[name]?.(bytes / 1.4) ?? '')],
  ),
);

export interface Template {
  /** Fields with values that are right, as JSON. */
  readonly fields: Readonly<Record<string, string>>;
  /** Paths at which a shape may stand; '' is the whole body. */
  readonly places: readonly string[];
}

function resolve(schema: Schema | undefined, document: OpenApiDocument): Schema {
  const inner = schema?.allOf?.[0] ?? schema;
  const name = inner?.$ref?.split('/').at(-1);
  return (name === undefined ? inner : document.components.schemas[name]) ?? {};
}

/** The parts of the operation's body, by its documentation. */
export function templateOf(operation: Operation, document: OpenApiDocument): Template {
  const schema = resolve(operation.requestBody?.content['application/json']?.schema, document);
  const fields: Record<string, string> = {};
  const places = ['', 'unknown'];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inner = resolve(property, document);
    places.push(name, ...Object.keys(inner.properties ?? {}).map((part) => `${name}.${part}`));
    const example = property.examples?.[0];
    if (example !== undefined) fields[name] = JSON.stringify(example);
  }
  return { fields, places };
}

/** The body with this value at that place, and everything else right. */
export function bodyWith(template: Template, place: string, value: string): string {
  if (place === '') return value;
  const [field = '', part] = place.split('.');
  const given = part === undefined ? value : `{${JSON.stringify(part)}:${value}}`;
  const others = Object.entries(template.fields).filter(([name]) => name !== field);
  return `{${[...others, [field, given] as const].map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
}
