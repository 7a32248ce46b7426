import { parseId } from '../../core/ids.js';

/** @throws ApiError 404 for what is no id of a case */
export function medCaseId(value: string): string {
  return parseId(value, ['med_'], 'MED case');
}
