import { beforeAll, describe, expect, it } from '@jest/globals';
import { SYSTEM } from '../../../src/audit/index.js';
import { CustomerDataService } from '../../../src/transactions/index.js';
import { type Answer, type Merchant, type Person, TestService } from '../../support/service.js';

const EMAIL = 'zenobia@payer.example';
const NOBODY = '01a20000-0000-7000-8000-000000000000';

interface Note {
  id: string;
  text: string | null;
  authorId: string;
  authorName: string | null;
  createdAt: string;
}
interface NoteAnswer extends Note {
  data: Note[];
  next_cursor: string | null;
  error?: { code: string };
}

describe('notes about a payment', () => {
  const service = TestService.forSpec();
  let merchant: Merchant;
  let owner: Person;
  let admin: Person;
  let otherAdmin: Person;
  let member: Person;

  beforeAll(async () => {
    merchant = await service.merchant();
    owner = await service.member(merchant.accountId, 'OWNER');
    admin = await service.member(merchant.accountId, 'ADMIN');
    otherAdmin = await service.member(merchant.accountId, 'ADMIN');
    member = await service.member(merchant.accountId, 'MEMBER');
  });

  const aSale = async (customer: object = {}): Promise<string> =>
    (await service.createCharge(merchant.testKey, { customer })).body.id.slice(3);
  const at = (
    person: Pick<Person, 'token'>,
    method: string,
    path: string,
    body?: object,
    mode = 'test',
  ): Promise<Answer<NoteAnswer>> =>
    service.call<NoteAnswer>(method, `/v1/dashboard/${mode}/payments/${path}`, {
      token: person.token,
      ...(body === undefined ? {} : { body }),
    });
  const write = (person: Person, sale: string, text: string): Promise<Answer<NoteAnswer>> =>
    at(person, 'POST', `${sale}/notes`, { text });
  const list = async (sale: string): Promise<Note[]> => (await at(member, 'GET', `${sale}/notes`)).body.data;

  it('shows everybody of the account who wrote what, newest first, by pages', async () => {
    const sale = await aSale();
    const first = await write(admin, sale, 'Pediu outra cor por telefone.');
    expect(first.status).toBe(201);
    await service.sql(`UPDATE users SET name = 'Ana Souza' WHERE id = $1`, [owner.userId]);
    await write(owner, `tx_${sale}`, 'Enviado hoje.');
    expect(await list(sale)).toEqual([
      { ...anyNote(), text: 'Enviado hoje.', authorId: owner.userId, authorName: 'Ana Souza' },
      { ...anyNote(), text: 'Pediu outra cor por telefone.', authorId: admin.userId, authorName: admin.email },
    ]);
    const page = await at(member, 'GET', `${sale}/notes?limit=1`);
    expect(page.body.data.map(({ text }) => text)).toEqual(['Enviado hoje.']);
    const next = await at(member, 'GET', `${sale}/notes?limit=1&starting_after=${page.body.next_cursor}`);
    expect(next.body.data.map(({ id }) => id)).toEqual([first.body.id]);
  });

  it('are refused when they are empty, longer than 500 characters, or written by a member who only reads', async () => {
    const sale = await aSale();
    for (const text of ['', '  ', 'x'.repeat(501)]) expect((await write(admin, sale, text)).status).toBe(400);
    expect((await write(admin, sale, 'ç'.repeat(500))).status).toBe(201);
    expect((await write(member, sale, 'x')).status).toBe(403);
    expect(await list(sale)).toHaveLength(1);
  });

  it('are deleted by their author or an OWNER, and by nobody else', async () => {
    const sale = await aSale();
    const own = (await write(admin, sale, 'one')).body.id;
    const others = (await write(admin, sale, 'two')).body.id;
    expect((await at(otherAdmin, 'DELETE', `${sale}/notes/${own}`)).status).toBe(403);
    expect((await at(member, 'DELETE', `${sale}/notes/${own}`)).status).toBe(403);
    expect((await at(admin, 'DELETE', `${sale}/notes/${own}`)).status).toBe(204);
    expect((await at(owner, 'DELETE', `${sale}/notes/${others}`)).status).toBe(204);
    expect((await at(owner, 'DELETE', `${sale}/notes/${others}`)).status).toBe(404);
    expect(await list(sale)).toEqual([]);
    const audited = await service.sql<{ type: string; actor_id: string; data: object }>(
      `SELECT type, actor_id, data FROM audit_events WHERE data ->> 'transaction_id' = $1 ORDER BY id`,
      [sale],
    );
    const about = { mode: 'test', transaction_id: sale };
    expect(audited).toEqual([
      { type: 'payment.note_added', actor_id: admin.userId, data: { ...about, note_id: own } },
      { type: 'payment.note_added', actor_id: admin.userId, data: { ...about, note_id: others } },
      {
        type: 'payment.note_deleted',
        actor_id: admin.userId,
        data: { ...about, note_id: own, author_id: admin.userId },
      },
      {
        ...{ type: 'payment.note_deleted', actor_id: owner.userId },
        data: { ...about, note_id: others, author_id: admin.userId },
      },
    ]);
  });

  it('belong to one sale, mode and account, and no API key reaches them', async () => {
    const [sale, another] = [await aSale(), await aSale()];
    const { id } = (await write(admin, sale, 'mine')).body;
    const stranger = { token: await service.login((await service.merchant()).ownerEmail) };
    const missing = await Promise.all([
      at(stranger, 'GET', `${sale}/notes`),
      at(stranger, 'POST', `${sale}/notes`, { text: 'x' }),
      at(stranger, 'DELETE', `${sale}/notes/${id}`),
      at(owner, 'GET', `${sale}/notes`, undefined, 'live'),
      at(owner, 'POST', `${sale}/notes`, { text: 'x' }, 'live'),
      at(owner, 'DELETE', `${sale}/notes/${id}`, undefined, 'live'),
      at(owner, 'DELETE', `${another}/notes/${id}`),
      at(owner, 'GET', `${NOBODY}/notes`),
      service.call<NoteAnswer>('GET', `/v1/payments/${sale}/notes`, { key: merchant.testKey }),
    ]);
    expect(missing.map(({ status }) => status)).toEqual(missing.map(() => 404));
    expect(await list(another)).toEqual([]);
    expect(await list(sale)).toHaveLength(1);
  });

  it('are exported with their customer, and lose their text with them', async () => {
    const sale = await aSale({ name: 'Zenobia', email: EMAIL });
    await service.simulate(merchant.testKey, `ch_${sale}`, { event: 'pay' });
    const { id } = (await write(admin, sale, 'Zenobia ligou.')).body;
    const customers = service.get(CustomerDataService);
    const who = { taxId: null, email: EMAIL, phone: null, mode: null, isEmailAlone: false };
    const { transactions } = await customers.export(merchant.accountId, who, SYSTEM);
    expect(transactions.map(({ related }) => related['payment_notes'])).toEqual([[{ id, text: 'Zenobia ligou.' }]]);
    const { erased, waiting } = await customers.erase(merchant.accountId, who, false, SYSTEM);
    expect({ waiting, notes: erased['payment_notes'] }).toEqual({ waiting: [], notes: 1 });
    expect((await list(sale)).map(({ text }) => text)).toEqual([null]);
    expect((await service.rows()).filter(({ text }) => text.includes('Zenobia ligou'))).toEqual([]);
  });
});

/** The fields of a note that a test does not look at. */
function anyNote(): object {
  const text: unknown = expect.any(String);
  return { id: text, authorName: text, createdAt: text };
}
