import type { MigrationInterface, QueryRunner } from 'typeorm';

export class WebhookMessages1700000007000 implements MigrationInterface {
  readonly name = 'WebhookMessages1700000007000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      -- What is sent, once for all its receivers and never changed: a delivery is rewritten at each of its steps, so it
      -- is kept narrow, and the key that lets an event be sent only once lies here, where no step touches it.
      CREATE TABLE webhook_messages (
        id uuid CONSTRAINT webhook_messages_pkey PRIMARY KEY,
        account_id uuid NOT NULL,
        mode text NOT NULL,
        event_id uuid NOT NULL,
        event_type text NOT NULL,
        manual boolean NOT NULL,
        payload text NOT NULL,
        delivery_ids uuid[] NOT NULL
      );
      INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
        SELECT (array_agg(id))[1], (array_agg(account_id))[1], (array_agg(mode))[1], event_id, event_type, false,
          (array_agg(payload))[1], array_agg(id)
        FROM webhook_deliveries WHERE NOT manual GROUP BY event_id, event_type;
      INSERT INTO webhook_messages (id, account_id, mode, event_id, event_type, manual, payload, delivery_ids)
        SELECT id, account_id, mode, event_id, event_type, true, payload, ARRAY[id] FROM webhook_deliveries WHERE manual;
      CREATE UNIQUE INDEX webhook_messages_event_key ON webhook_messages (event_id, event_type) WHERE NOT manual;

      ALTER TABLE webhook_deliveries ADD COLUMN message_id uuid;
      UPDATE webhook_deliveries d SET message_id = m.id
        FROM webhook_messages m CROSS JOIN LATERAL unnest(m.delivery_ids) AS i (id) WHERE d.id = i.id;
      -- Also drops webhook_deliveries_event_key.
      ALTER TABLE webhook_deliveries ALTER COLUMN message_id SET NOT NULL, DROP COLUMN event_id, DROP COLUMN payload;
      -- An attempt is written with the step of its delivery that it is: asking for each whether there is a delivery
      -- was a tenth of that.
      ALTER TABLE webhook_attempts DROP CONSTRAINT webhook_attempts_delivery_id_fkey;

      ANALYZE webhook_messages, webhook_deliveries;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE webhook_attempts ADD CONSTRAINT webhook_attempts_delivery_id_fkey
        FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries (id);
      ALTER TABLE webhook_deliveries ADD COLUMN event_id uuid, ADD COLUMN payload text;
      UPDATE webhook_deliveries d SET event_id = m.event_id, payload = m.payload
        FROM webhook_messages m WHERE m.id = d.message_id;
      ALTER TABLE webhook_deliveries ALTER COLUMN event_id SET NOT NULL, ALTER COLUMN payload SET NOT NULL,
        DROP COLUMN message_id;
      CREATE UNIQUE INDEX webhook_deliveries_event_key ON webhook_deliveries (event_id, endpoint_id, event_type)
        WHERE NOT manual;
      DROP TABLE webhook_messages;
    `);
  }
}
