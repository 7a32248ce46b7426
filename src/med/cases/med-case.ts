import { nullsOf } from '../../core/database/index.js';
import { MedCaseEntity } from './med-case.entity.js';

export type { BankSide, MedCaseEntity as MedCase, MedReview } from './med-case.entity.js';

/** Initial values of a new case. */
export const UNTOUCHED = nullsOf(MedCaseEntity);
