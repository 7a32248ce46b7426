import type { MigrationInterface, QueryRunner } from 'typeorm';

export class EndedMail1700000007120 implements MigrationInterface {
  readonly name = 'EndedMail1700000007120';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Mail is removed some time after it was sent or given up: it names people.
      CREATE INDEX emails_ended_idx ON emails (next_attempt_at) WHERE status <> 'pending';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX emails_ended_idx');
  }
}
