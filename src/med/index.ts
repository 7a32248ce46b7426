export type { MedCase } from './med-case.js';
export { MedCaseEntity } from './med-case.entity.js';
export { MedCasesService } from './med-cases.service.js';
export { MedModule } from './med.module.js';
