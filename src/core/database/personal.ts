import { getMetadataArgsStorage } from 'typeorm';

/** A class with `@Entity`, or a class that it extends or embeds. */
type EntityClass = abstract new () => object;

interface PersonalOptions {
  /**
   * `always`: blanked with its person. `with_metadata`: the merchant's own words, blanked where the merchant says so.
   * `never`: only exported.
   */
  readonly erased?: 'always' | 'with_metadata' | 'never';
  /** Place of the value within a jsonb column. */
  readonly path?: readonly string[];
  /** Value after the erasure: null by default; with a path, the key is removed. */
  readonly empty?: unknown;
  /** The column is sealed JSON. Only the person's data are taken out of it. */
  readonly isCopy?: boolean;
}

interface Marked extends Required<PersonalOptions> {
  readonly target: unknown;
  readonly property: string;
}

/** A column with personal data. */
export interface PersonalColumn extends Marked {
  /** The column's name in the database. */
  readonly name: string;
}

const marked: Marked[] = [];

/**
 * Marks a column that holds personal data. Nothing else must be listed: events seal it, the commands that export and
 * erase a person's data show and blank it. For a part of another context's column, call
 * `Personal({ path })(Entity.prototype, 'column')`.
 */
export function Personal(options: PersonalOptions = {}): PropertyDecorator {
  return ({ constructor }, property) => {
    const { erased = 'always', path = [], isCopy = false } = options;
    const empty = 'empty' in options ? options.empty : path.length > 0 ? undefined : null;
    marked.push({ target: constructor, property: String(property), erased, path, empty, isCopy });
  };
}

/**
 * Says why a column, or every column of a class, needs no erasure. A test requires this or `@Personal` wherever a
 * column could hold words.
 */
export function NotPersonal(_why: string): PropertyDecorator & ClassDecorator {
  return () => undefined;
}

/** Lists the columns of an entity and of the classes it extends and embeds, in the order of their declaration. */
export function personalColumnsOf(entity: unknown): PersonalColumn[] {
  const { columns, embeddeds } = getMetadataArgsStorage();
  const isPartOf = (target: unknown, whole: unknown): boolean =>
    target === whole || (typeof target === 'function' && (whole as EntityClass).prototype instanceof target);
  const parts = [entity, ...embeddeds.filter(({ target }) => isPartOf(target, entity)).map(({ type }) => type())];
  return marked
    .filter(({ target }) => parts.some((part) => isPartOf(target, part)))
    .map((one) => {
      const column = columns.find(({ target, propertyName }) => target === one.target && propertyName === one.property);
      if (!column) throw new Error(`${one.property} is marked as personal and is no column`);
      return { ...one, name: column.options.name ?? one.property };
    });
}
