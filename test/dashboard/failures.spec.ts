import { describe, expect, it } from '@jest/globals';
import { ApiFailure } from '../../dashboard/src/api.js';
import { hintOf } from '../../dashboard/src/failures.js';
import type { Translate } from '../../dashboard/src/format.js';

const portuguese: Translate = (text) => text;
const english: Translate = (_, text) => text;

describe('what somebody is told of a refusal', () => {
  it.each(['forbidden', 'API_KEY_ROLE_REQUIRED'])('%s is that of a role', (code) =>
    expect(hintOf(new ApiFailure(403, code, 'No.', null), portuguese)).toMatch(/^O seu papel não permite isto/),
  );

  it.each([
    ['fraud.velocity_exceeded', 'muitas por minuto para o mesmo documento', 'too many a minute for the same document'],
    ['fraud.amount_limit_exceeded', 'acima do valor máximo', 'above the maximum ticket'],
    ['fraud.document_blocked', 'documento bloqueado', 'blocked document'],
  ])('%s is the fraud guard’s, of which the rule is named', (code, rule, inEnglish) => {
    const failure = new ApiFailure(403, code, 'No.', null);
    expect(hintOf(failure, portuguese)).toBe(
      `O antifraude da conta recusou isto: ${rule}. Quem opera o serviço pode mudar as regras.`,
    );
    expect(hintOf(failure, english)).toContain(inEnglish);
  });

  it.each(['foreign_page', 'ip_not_allowed', 'account_suspended', 'totp_setup_required'])(
    '%s is no matter of roles',
    (code) => expect(hintOf(new ApiFailure(403, code, 'No.', null), portuguese)).not.toMatch(/papel|^No/),
  );
});
