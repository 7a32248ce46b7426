/** An entity that no company has: SIBS assigns numbers from 10000 on, and 99999 is the end of the range. */
export const SANDBOX_ENTITY = '99999';

/** The check digits cover eight digits of the amount. */
export const MAX_MULTIBANCO_AMOUNT = 99_999_999;

/**
 * Makes a Multibanco reference: seven digits that name the payment and two check digits. The check digits cover entity,
 * the seven digits and amount, so that a cash machine refuses a mistyped one. ISO 7064 modulo 97-10, which equals
 * SIBS's weights (3, 30, 9, 90, … from the right).
 * @param entity 5 digits
 * @param id 7 digits
 * @param amount cents, 1 to `MAX_MULTIBANCO_AMOUNT`
 * @throws RangeError for parts that do not fit
 */
export function multibancoReference(entity: string, id: string, amount: number): string {
  if (!/^\d{5}$/.test(entity) || !/^\d{7}$/.test(id)) throw new RangeError('an entity has 5 digits, an id 7');
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > MAX_MULTIBANCO_AMOUNT) {
    throw new RangeError(`the amount must be an integer from 1 to ${MAX_MULTIBANCO_AMOUNT}`);
  }
  const number = BigInt(`${entity}${id}${String(amount).padStart(8, '0')}`);
  return `${id}${String(98n - ((number * 100n) % 97n)).padStart(2, '0')}`;
}
