import type { MigrationInterface, QueryRunner } from 'typeorm';

export class SandboxAccounts1700000004500 implements MigrationInterface {
  readonly name = 'SandboxAccounts1700000004500';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- Whose money it is, as a bank keeps it. Who simulates a payment may choose its end-to-end id: the one of one account
      -- says nothing to another one.
      ALTER TABLE sandbox_returns DROP CONSTRAINT sandbox_returns_end_to_end_id_fkey,
        DROP CONSTRAINT sandbox_returns_pkey, ADD COLUMN holder_id uuid;
      ALTER TABLE sandbox_pix DROP CONSTRAINT sandbox_pix_pkey, ADD COLUMN holder_id uuid;
      UPDATE sandbox_pix p SET holder_id = t.account_id FROM transactions t WHERE t.txid = p.txid;
      UPDATE sandbox_returns r SET holder_id = p.holder_id FROM sandbox_pix p WHERE p.end_to_end_id = r.end_to_end_id;
      ALTER TABLE sandbox_pix ADD CONSTRAINT sandbox_pix_pkey PRIMARY KEY (holder_id, end_to_end_id);
      ALTER TABLE sandbox_returns ADD CONSTRAINT sandbox_returns_pkey PRIMARY KEY (holder_id, end_to_end_id, return_id),
        ADD CONSTRAINT sandbox_returns_end_to_end_id_fkey FOREIGN KEY (holder_id, end_to_end_id)
          REFERENCES sandbox_pix (holder_id, end_to_end_id);

      -- Among what an end-to-end id is the only one: null for all there is in the world, otherwise the account.
      ALTER TABLE settlements ADD COLUMN namespace uuid;
      UPDATE settlements SET namespace = account_id WHERE acquirer = 'sandbox';
      ALTER TABLE settlements DROP CONSTRAINT settlements_end_to_end_id_key,
        ADD CONSTRAINT settlements_end_to_end_id_key UNIQUE NULLS NOT DISTINCT (acquirer, namespace, end_to_end_id);
      UPDATE acquirer_notifications n SET reference = p.holder_id || '/' || n.reference
        FROM sandbox_pix p WHERE n.acquirer = 'sandbox' AND n.kind IN ('pix', 'payment') AND p.end_to_end_id = n.reference;
    `);
  }

  /** Fails where two accounts have used one end-to-end id. */
  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE acquirer_notifications SET reference = substr(reference, 38)
        WHERE acquirer = 'sandbox' AND kind IN ('pix', 'payment');
      ALTER TABLE settlements DROP COLUMN namespace,
        ADD CONSTRAINT settlements_end_to_end_id_key UNIQUE (acquirer, end_to_end_id);
      ALTER TABLE sandbox_returns DROP CONSTRAINT sandbox_returns_end_to_end_id_fkey, DROP COLUMN holder_id,
        ADD CONSTRAINT sandbox_returns_pkey PRIMARY KEY (end_to_end_id, return_id);
      ALTER TABLE sandbox_pix DROP COLUMN holder_id, ADD CONSTRAINT sandbox_pix_pkey PRIMARY KEY (end_to_end_id);
      ALTER TABLE sandbox_returns ADD CONSTRAINT sandbox_returns_end_to_end_id_fkey FOREIGN KEY (end_to_end_id)
        REFERENCES sandbox_pix (end_to_end_id);
    `);
  }
}
