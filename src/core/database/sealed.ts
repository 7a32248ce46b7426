/** A column whose values `SecretBox` has sealed. */
export interface SealedColumn {
  readonly target: unknown;
  readonly property: string;
  /** SQL of the row: the context that its value is bound to. */
  readonly context: string;
  /** Within a jsonb column: where the value stands, as base64. Empty: the column is the value. */
  readonly path: readonly string[];
}

const columns: SealedColumn[] = [];

/**
 * Says of an entity's column that `SecretBox` seals it, so that `secrets reseal` finds it.
 * @param context SQL of the row for the context, the same as in the code that seals
 */
export function Sealed(context: string, ...path: readonly string[]): PropertyDecorator {
  return (prototype, property) => {
    columns.push({ target: prototype.constructor, property: String(property), context, path });
  };
}

/** The sealed columns of all entities that are loaded. */
export function sealedColumns(): readonly SealedColumn[] {
  return columns;
}
