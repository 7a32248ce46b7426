import { describe, expect, it } from '@jest/globals';
import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { columnsOf, insertInto, nullsOf, updateOf } from './columns.js';
import { rowModeOf, rowsOf, read } from './statement.js';

class Parcel {
  @PrimaryColumn('uuid') readonly id!: string;
  @Column('uuid', { name: 'account_id' }) readonly accountId!: string;
  @Column('jsonb', { nullable: true }) readonly contents!: readonly string[] | null;
  @Column('text', { array: true }) readonly labels!: readonly string[];
  @VirtualColumn({ type: 'boolean', query: (alias) => `${alias}.labels <> '{}'` }) readonly isLabelled!: boolean;
}

@Entity('parcels')
class ParcelEntity extends Parcel {
  @Column('timestamptz', { name: 'due_at', nullable: true }) dueAt!: Date | null;
}

class Place {
  @Column('text', { name: 'street_name' }) street!: string;
  @Column('jsonb', { name: 'marks', nullable: true }) marks!: readonly string[] | null;
}

@Entity('vans')
class VanEntity {
  @PrimaryColumn('uuid') id!: string;
  @Column(() => Place, { prefix: false }) place!: Place;
}

describe('columns of a row', () => {
  it('are selected under the names of the properties', () => {
    expect(columnsOf(Parcel, 'p')).toBe(
      `p.id, p.account_id AS "accountId", p.contents, p.labels, p.labels <> '{}' AS "isLabelled"`,
    );
  });

  it('include those of its base class and of no other class', () => {
    expect(columnsOf(ParcelEntity, 'p')).toBe(`${columnsOf(Parcel, 'p')}, p.due_at AS "dueAt"`);
    expect(columnsOf(VanEntity, 'v', { without: ['place'] })).toBe('v.id');
  });

  it('are nested like the properties', () => {
    expect(columnsOf(VanEntity, 'v')).toBe('v.id, v.street_name AS "place.street", v.marks AS "place.marks"');
  });

  it('are limited to the chosen ones', () => {
    expect(columnsOf(ParcelEntity, 'p', { only: ['dueAt', 'id'] })).toBe('p.id, p.due_at AS "dueAt"');
    expect(columnsOf(ParcelEntity, 'p', { without: ['contents', 'labels', 'isLabelled', 'dueAt'] })).toBe(
      'p.id, p.account_id AS "accountId"',
    );
  });

  it('throw for a class without columns', () => {
    expect(() => columnsOf(class Van {}, 'v')).toThrow('Van has no such columns');
  });
});

describe('a row of several tables', () => {
  it('is nested by the dots in the names of its columns', () => {
    const columns = `${columnsOf(Parcel, 'p', { only: ['id', 'accountId'], within: 'parcel' })}, v.id AS van`;
    expect(columns).toBe('p.id AS "parcel.id", p.account_id AS "parcel.accountId", v.id AS van');
    const nested = read('test.nested', `SELECT ${columns} FROM parcels p, vans v`);
    expect(rowModeOf(nested)).toEqual({ rowMode: 'array' });
    const answer = (...rows: unknown[][]): { fields: { name: string }[]; rows: unknown[] } => ({
      fields: [{ name: 'parcel.id' }, { name: 'parcel.accountId' }, { name: 'van' }],
      rows,
    });
    const wanted = { parcel: { id: 'one', accountId: null }, van: 'first' };
    expect(rowsOf(nested, answer(['one', null, 'first']))).toEqual([wanted]);
    expect(rowsOf(nested, answer(['one', null, 'first'], ['two', 'b', null]))).toEqual([
      wanted,
      { parcel: { id: 'two', accountId: 'b' }, van: null },
    ]);
    expect(rowsOf(nested, answer())).toEqual([]);
  });

  it('is left unchanged when no name has a dot', () => {
    const flat = read('test.flat', `SELECT ${columnsOf(Parcel, 'p')} FROM parcels p`);
    const rows = [{ id: 'one' }];
    expect(rowModeOf(flat)).toEqual({});
    expect(rowsOf(flat, { fields: [{ name: 'id' }], rows })).toBe(rows);
  });
});

describe('an insert', () => {
  const insert = insertInto('test.insert', ParcelEntity, { after: 'ON CONFLICT DO NOTHING' });
  const parcel = { id: 'one', accountId: 'a', contents: ['tea'], labels: ['fragile'], isLabelled: true };

  it('names every column that is stored, and takes the values in their order', () => {
    expect(insert.name).toBe('test.insert');
    expect(insert.text.replace(/\s+/g, ' ')).toBe(
      'INSERT INTO parcels (id, account_id, contents, labels, due_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
    );
    const dueAt = new Date();
    expect(insert.valuesOf({ ...parcel, dueAt })).toEqual(['one', 'a', '["tea"]', ['fragile'], dueAt]);
  });

  it('writes null as SQL NULL and not as JSON null', () => {
    expect(insert.valuesOf({ ...parcel, contents: null, dueAt: null })).toEqual(['one', 'a', null, ['fragile'], null]);
  });

  it('leaves omitted columns to the defaults of the table', () => {
    const short = insertInto('test.insert_short', ParcelEntity, { without: ['contents', 'labels', 'dueAt'] });
    expect(short.text).toContain('INSERT INTO parcels (id, account_id)');
    expect(short.valuesOf(parcel)).toEqual(['one', 'a']);
  });

  it('takes the values of an object within the row', () => {
    const nested = insertInto('test.insert_nested', VanEntity);
    expect(nested.text).toContain('INSERT INTO vans (id, street_name, marks)');
    const marks = ['hill'];
    expect(nested.valuesOf({ id: 'one', place: { street: 'Rua Um', marks } })).toEqual(['one', 'Rua Um', '["hill"]']);
  });

  it('passes any number of rows as one array per column', () => {
    const { all } = insert;
    expect(all.name).toBe('test.insert_each');
    expect(all.text).toBe(
      'INSERT INTO parcels (id, account_id, contents, labels, due_at) SELECT w.p1, w.p2, w.p3, w.p4::text[], w.p5 ' +
        'FROM unnest($1::uuid[], $2::uuid[], $3::jsonb[], $4::text[], $5::timestamptz[]) ' +
        'WITH ORDINALITY AS w (p1, p2, p3, p4, p5, n) ORDER BY w.n ON CONFLICT DO NOTHING',
    );
    const dueAt = new Date();
    const other = { ...parcel, id: 'two', contents: null, labels: ['a "b"', 'c\\d,', ''], dueAt: null };
    expect(all.valuesOf([{ ...parcel, dueAt }, other])).toEqual([
      ['one', 'two'],
      ['a', 'a'],
      ['["tea"]', null],
      ['{"fragile"}', '{"a \\"b\\"","c\\\\d,",""}'],
      [dueAt, null],
    ]);
  });

  it('throws for a class without a table', () => {
    expect(() => insertInto('test.no_table', Parcel)).toThrow('Parcel has no table');
  });
});

describe('an update', () => {
  it('writes every column except the excluded ones, with parameters numbered after those of the condition', () => {
    const update = updateOf('test.update', ParcelEntity, {
      without: ['id', 'accountId', 'labels'],
      first: 2,
      after: 'WHERE id = $1',
    });
    expect(update.text).toBe('UPDATE parcels SET contents = $2, due_at = $3 WHERE id = $1');
    expect(update.valuesOf({ contents: ['tea'], isLabelled: true, dueAt: null })).toEqual(['["tea"]', null]);
  });
});

describe('a new row', () => {
  it('has null for every nullable column', () => {
    expect(nullsOf(ParcelEntity)).toEqual({ contents: null, dueAt: null });
    expect(nullsOf(VanEntity)).toEqual({});
  });
});
