import { buildMessage, ValidateBy } from 'class-validator';

const MAX_METADATA_BYTES = 16 * 1024;
const MAX_METADATA_DEPTH = 5;

/** An object of at most 16 KiB as JSON and 5 levels (decisions §2.7). */
export function IsMetadata(): PropertyDecorator {
  return ValidateBy({
    name: 'isMetadata',
    validator: {
      validate: (value: unknown) =>
        value !== null &&
        typeof value === 'object' &&
        !Array.isArray(value) &&
        depthOf(value) <= MAX_METADATA_DEPTH &&
        Buffer.byteLength(JSON.stringify(value)) <= MAX_METADATA_BYTES,
      defaultMessage: buildMessage(() => 'must be an object of at most 16 KiB as JSON and 5 levels'),
    },
  });
}

/** Levels of objects and arrays; a text or number is none. */
export function depthOf(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0);
}
