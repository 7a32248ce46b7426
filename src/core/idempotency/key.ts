import { rule } from '../http/index.js';

const MOST = 128;

/** A key in a body as it counts: without blanks around it, as HTTP takes them off a header. */
export function keyOf(text: string): string {
  return text.trim();
}

/** @param least characters, blanks around them not counted */
export function IsIdempotencyKey(least: number): PropertyDecorator {
  return rule(
    'isIdempotencyKey',
    (value) => {
      if (typeof value !== 'string' || !/^[\x20-\x7e]{1,256}$/.test(value)) return false;
      const { length } = keyOf(value);
      return length >= least && length <= MOST;
    },
    `must have ${least} to ${MOST} printable ASCII characters`,
  );
}
