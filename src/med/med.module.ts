import { Module } from '@nestjs/common';
import { MedCasesRepository } from './med-cases.repository.js';
import { MedCasesService } from './med-cases.service.js';

@Module({
  providers: [MedCasesRepository, MedCasesService],
  exports: [MedCasesService],
})
export class MedModule {}
