export { MedCaseSchema } from './dto/med-case.body.js';
export type { MedCase, MedReview } from './med-case.js';
export { MedCaseEntity } from './med-case.entity.js';
export { type MedCaseBody, medCaseBody } from './med-case.serializer.js';
export { MedCasesService } from './med-cases.service.js';
export { MedDeadlines } from './med-deadlines.js';
export { MedDesk } from './med-desk.js';
export { MedDisputesService } from './med-disputes.service.js';
export { MedModule } from './med.module.js';
