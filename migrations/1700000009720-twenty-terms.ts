import type { MigrationInterface, QueryRunner } from 'typeorm';
import { redefine } from './redefine.js';

const HUNDRED = 'FROM jsonb_each(metadata) LIMIT 100 LOOP';
const TWENTY = 'FROM jsonb_each(metadata) LIMIT 20 LOOP';

/**
 * Sales are found by at most twenty keys of their metadata, those of the shortest names: a hundred cost others ten times
 * their own time where one account makes as many sales as it may. What is in the index of earlier ones stays.
 */
export class TwentyTerms1700000009720 implements MigrationInterface {
  readonly name = 'TwentyTerms1700000009720';

  async up(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'transaction_terms', HUNDRED, TWENTY);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await redefine(queryRunner, 'transaction_terms', TWENTY, HUNDRED);
  }
}
