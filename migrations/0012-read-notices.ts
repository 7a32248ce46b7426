import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The notices that each person has read, and how far their mails about paid sales have come. */
export class ReadNotices1700000120000 implements MigrationInterface {
  readonly name = 'ReadNotices1700000120000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      `ALTER TABLE members ADD notices_read_live timestamptz, ADD notices_read_test timestamptz, ADD paid_mails_xid bigint`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE members DROP notices_read_live, DROP notices_read_test, DROP paid_mails_xid');
  }
}
