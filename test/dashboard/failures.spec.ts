import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ApiFailure } from '../../dashboard/src/api.js';
import { detailOf, hintOf } from '../../dashboard/src/failures.js';
import type { Translate } from '../../dashboard/src/format.js';

const portuguese: Translate = (text) => text;
const english: Translate = (_, text) => text;

describe('hints about a refusal', () => {
  it.each(['forbidden', 'API_KEY_ROLE_REQUIRED'])('blame the role for %s', (code) =>
    expect(hintOf(new ApiFailure(403, code, 'No.', null), portuguese)).toMatch(/^Seu papel não permite esta ação/),
  );

  it.each([
    ['fraud.velocity_exceeded', 'muitas por minuto para o mesmo documento', 'too many a minute for the same document'],
    ['fraud.amount_limit_exceeded', 'acima do valor máximo', 'above the maximum ticket'],
    ['fraud.document_blocked', 'documento bloqueado', 'blocked document'],
  ])('name the rule of the fraud guard for %s', (code, rule, inEnglish) => {
    const failure = new ApiFailure(403, code, 'No.', null);
    expect(hintOf(failure, portuguese)).toBe(
      `O antifraude da conta recusou esta operação: ${rule}. O operador do serviço pode alterar as regras.`,
    );
    expect(hintOf(failure, english)).toContain(inEnglish);
  });

  it.each(['foreign_page', 'ip_not_allowed', 'account_suspended', 'totp_setup_required'])(
    'do not mention roles for %s',
    (code) => expect(hintOf(new ApiFailure(403, code, 'No.', null), portuguese)).not.toMatch(/papel|^No/),
  );

  it('are in Portuguese for every code of the contract that a person may meet on a page', () => {
    // Codes for programs, and codes that each screen explains by itself.
    const others = new Set([
      ...['invalid_request', 'unauthorized', 'api_key_expired', 'unknown_cursor', 'totp_required', 'not_found'],
      'rate_limited',
    ]);
    const table = /^# Errors\n[\s\S]*?^## /m.exec(readFileSync('docs/contract.md', 'utf8'))?.[0] ?? '';
    const rows = table.split('\n').filter((line) => /^\| \d{3} /.test(line));
    const codes = rows.flatMap((row) =>
      [...(row.split('|')[3] ?? '').matchAll(/`([A-Za-z_.]+)`/g)].map(([, code]) => code ?? ''),
    );
    expect(codes.length).toBeGreaterThan(60);
    const said = 'As it came.';
    const missing = codes
      .filter((code) => /_|\./.test(code) && !others.has(code))
      .filter((code) => hintOf(new ApiFailure(409, code, said, null), portuguese) === said);
    expect(missing).toEqual([]);
  });

  it('use the text of the screen for a failure without a code, by the field concerned', () => {
    const refused = { token: 'Este link não vale mais.' };
    const of = (param: string): string =>
      hintOf(new ApiFailure(400, 'invalid_request', 'As it came.', null, [], param), portuguese, refused);
    expect([of('token'), of('amount')]).toEqual(['Este link não vale mais.', 'As it came.']);
  });
});

describe('hints about a field', () => {
  it.each([
    ['too_short', 'must have at least 10 characters', 'precisa de pelo menos 10 caracteres'],
    ['too_common', 'is one of the passwords', 'é uma das senhas tentadas primeiro; escolha outra'],
    ['personal', 'must not contain your e-mail or name', 'não pode conter o seu e-mail ou nome'],
    ['required', 'is required', 'falta'],
    ['invalid', 'must be odd', 'não é aceito como está escrito (must be odd)'],
    ['unheard_of', 'must be odd', '(must be odd)'],
  ])('explain %s in the language of the person', (code, message, text) => {
    expect(detailOf({ code, message }, portuguese)).toBe(text);
    expect(detailOf({ code, message }, english)).toBe(message);
  });
});
