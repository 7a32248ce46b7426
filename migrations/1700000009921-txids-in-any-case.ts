import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Open charges by their txids in any letters: some PSPs write a txid in capitals. */
export class TxidsInAnyCase1700000009921 implements MigrationInterface {
  readonly name = 'TxidsInAnyCase1700000009921';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE INDEX transactions_open_txid_idx ON transactions (lower(txid), acquirer)
        WHERE status IN ('PENDING', 'WAITING_PAYMENT', 'PROCESSING');
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX transactions_open_txid_idx');
  }
}
