import { nullsOf } from '../core/database/index.js';
import { MedCaseEntity } from './med-case.entity.js';

export type { BankSide, MedCaseEntity as MedCase, MedReview } from './med-case.entity.js';

/** What a case has when it is made. */
export const UNTOUCHED = nullsOf(MedCaseEntity);
