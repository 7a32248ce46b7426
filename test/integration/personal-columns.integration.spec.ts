import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Column, DataSource, PrimaryColumn } from 'typeorm';
import { SecretBox } from '../../src/core/crypto/index.js';
import { Database, NotPersonal, Personal, Reader, Sealed } from '../../src/core/database/index.js';
import { CustomerDataRepository } from '../../src/transactions/customer-data/customer-data.repository.js';
import { TestService } from '../support/service.js';

/** No `@Entity`: modules stay loaded, and services of other specs would look for the table. */
class Parcel {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid', { name: 'transaction_id' }) readonly transactionId!: string;
  @Personal()
  @Column('text', { name: 'street_name', nullable: true })
  readonly streetName!: string | null;
  @Personal({ erased: 'with_metadata' })
  @Column('text', { nullable: true })
  readonly remark!: string | null;
  @Personal({ path: ['door'] })
  @Personal({ path: ['neighbour', 'name'], empty: null })
  @Column('jsonb')
  readonly place!: object;
  @Personal({ isCopy: true })
  @Sealed(`'spec_parcel:' || id`)
  @Column('text', { nullable: true })
  readonly told!: string | null;
  @NotPersonal('a code')
  @Column('text')
  readonly size!: string;
}

class Stray {
  @PrimaryColumn('uuid') readonly id!: string;
  @Personal()
  @Column('text')
  readonly name!: string;
}

const who = { taxId: '52998224725', email: null, phone: null, mode: null, isEmailAlone: false };

/** A column is marked where it is declared, and nothing else is written for it. */
describe('a personal column of a new entity', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
    await service.sql(`CREATE TABLE spec_parcels (id uuid PRIMARY KEY, transaction_id uuid NOT NULL, street_name text,
      remark text, place jsonb NOT NULL, told text, size text NOT NULL)`);
    await service.sql('GRANT ALL ON spec_parcels TO PUBLIC');
  });
  afterAll(() => service.stop());

  const withTables = (...added: [unknown, string, string[]][]): CustomerDataRepository => {
    const { entityMetadatas } = service.get(DataSource);
    const tables = added.map(([target, tableName, names]) => ({
      ...{ target, tableName, columns: names.map((databaseName) => ({ databaseName })) },
    }));
    return new CustomerDataRepository(service.get(Reader), service.get(SecretBox), {
      entityMetadatas: [...entityMetadatas, ...tables],
    } as unknown as DataSource);
  };

  it('is exported, blanked and taken out of sealed copies', async () => {
    const { accountId, testKey } = await service.merchant();
    const customer = { name: 'Zenobia', document: who.taxId };
    const { body: charge } = await service.createCharge(testKey, { customer });
    const [row] = await service.sql<{ id: string }>('SELECT id::text FROM transactions WHERE account_id = $1', [
      accountId,
    ]);
    expect(charge.id).toContain(row?.id);
    const [transactionId = '', id] = [row?.id, randomUUID()];
    const secrets = service.get(SecretBox);
    const told = secrets.sealText('{"customerName":"Zenobia","size":"L"}', `spec_parcel:${id}`);
    await service.sql('INSERT INTO spec_parcels VALUES ($1, $2, $3, $4, $5, $6, $7)', [
      ...[id, transactionId, 'Rua A', 'leave it at the door'],
      ...[{ door: '12', neighbour: { name: 'Yolanda' }, floor: 1 }, told, 'L'],
    ]);

    const repository = withTables([
      Parcel,
      'spec_parcels',
      ['id', 'transaction_id', 'street_name', 'remark', 'place', 'told'],
    ]);
    const [exported] = await repository.find(accountId, who, '00000000-0000-0000-0000-000000000000', 10);
    expect(exported).toMatchObject({
      customer_name: 'Zenobia',
      customer_document: who.taxId,
      metadata: {},
      related: { refunds: [], spec_parcels: [{ id, street_name: 'Rua A', remark: 'leave it at the door' }] },
    });

    const erase = (withMetadata: boolean) =>
      service.get(Database).transaction((tx) => repository.erase(tx, [transactionId], withMetadata));
    const parcel = async () =>
      (await service.sql<Parcel & { street_name: string | null }>('SELECT * FROM spec_parcels'))[0];
    expect(await erase(false)).toMatchObject({ transactions: 1, spec_parcels: 2 });
    expect(await parcel()).toMatchObject({
      ...{ street_name: null, remark: 'leave it at the door', size: 'L' },
      place: { neighbour: { name: null }, floor: 1 },
    });
    expect((await parcel())?.place).not.toHaveProperty('door');
    expect(secrets.openText((await parcel())?.told ?? '', `spec_parcel:${id}`)).toBe(
      '{"customerName":null,"size":"L"}',
    );
    expect(await erase(false)).toMatchObject({ transactions: 0, spec_parcels: 0 });
    expect(await erase(true)).toMatchObject({ transactions: 0, spec_parcels: 1 });
    expect(await parcel()).toMatchObject({ remark: null, size: 'L' });
  });

  it('stops the start when nothing ties its table to a transaction', () => {
    expect(() => withTables([Stray, 'spec_strays', ['id', 'name']])).toThrow('spec_strays');
  });
});
