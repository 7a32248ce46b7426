import type { ReactNode } from 'react';
import { BANKS } from '../banks.js';
import { money } from '../format.js';
import type { Typed } from '../forms.js';
import { type Translate, useLanguage } from '../language.js';
import { accountType, keyKind } from '../payout-words.js';
import {
  detectKey,
  isDocument,
  mayBePhone,
  OTHER_BANK,
  readCode,
  type RECEIVER,
  type TypedReceiver,
} from '../receiver.js';
import { Choice, Field, Input } from '../ui.js';

/** Names the wrong or missing field, if `targetOf` finds no receiver. */
export function receiverProblem({ type, key }: TypedReceiver, t: Translate): string {
  if (type === 'br_code')
    return t('Cole o código Pix inteiro, como o banco o mostra.', 'Paste the whole Pix code, as the bank shows it.');
  if (type === 'bank_account')
    return t(
      'Confira o banco, a agência, a conta e o CPF ou CNPJ do titular.',
      'Check the bank, the branch, the account and the holder’s CPF or CNPJ.',
    );
  if (detectKey(key) === null && mayBePhone(key))
    return t(
      `Para o celular, escreva +55${key.trim()}. Se for CPF, confira os dígitos.`,
      `For the phone, write +55${key.trim()}. For a CPF, check the digits.`,
    );
  return detectKey(key) === null
    ? t(
        'Escreva uma chave Pix: CPF, CNPJ, e-mail, celular ou chave aleatória.',
        'Write a Pix key: CPF, CNPJ, e-mail, phone or random key.',
      )
    : t(
        'Escreva o CPF ou CNPJ de quem recebe, com os dígitos certos.',
        'Write the CPF or CNPJ of the receiver, with the right digits.',
      );
}

function keyHint(typed: string, t: Translate): string {
  const found = detectKey(typed);
  if (mayBePhone(typed)) {
    return found === null
      ? t(
          'Se for celular, escreva +55 antes. Como CPF, confira os dígitos.',
          'For a phone, write +55 before it. As a CPF, check the digits.',
        )
      : t('CPF. Se for celular, escreva +55 antes.', 'CPF. For a phone, write +55 before it.');
  }
  if (found === null)
    return t('CPF, CNPJ, e-mail, celular ou chave aleatória.', 'CPF, CNPJ, e-mail, phone or random key.');
  const name = keyKind(found.kind, t);
  return found.kind === 'phone' ? `${name}: ${found.key}` : name;
}

/** The form for a receiver. @param mayBeCode whether it may be a Pix code, which is no place for a saved destination */
export function ReceiverFields({
  receiver: { fields, field },
  mayBeCode,
}: {
  receiver: Typed<keyof typeof RECEIVER>;
  mayBeCode: boolean;
}): ReactNode {
  const { t, language } = useLanguage();
  const key = detectKey(fields.key);
  const code = readCode(fields.br_code);
  const isAccount = fields.type === 'bank_account';
  return (
    <>
      <Choice
        label={t('Tipo de destino', 'Kind of destination')}
        {...field('type')}
        options={[
          ['pix_key', t('Chave Pix', 'Pix key')],
          ...(mayBeCode ? [['br_code', t('Pix copia e cola', 'Pix code')] as const] : []),
          ['bank_account', t('Agência e conta', 'Branch and account')],
        ]}
      />
      {fields.type === 'pix_key' && (
        <Input
          label={t('Chave Pix', 'Pix key')}
          hint={keyHint(fields.key, t)}
          maxLength={77}
          autoComplete="off"
          required
          {...field('key')}
        />
      )}
      {fields.type === 'br_code' && (
        <Field
          label={t('Pix copia e cola', 'Pix code')}
          hint={
            code === null
              ? t('Começa com 000201.', 'Begins with 000201.')
              : `${code.name}${code.amount === null ? '' : ` · ${money(code.amount, 'BRL', language)}`}`
          }
        >
          {(named) => (
            <textarea {...named} rows={4} maxLength={512} spellCheck={false} required {...field('br_code')} />
          )}
        </Field>
      )}
      {isAccount && (
        <>
          <Choice
            label={t('Banco', 'Bank')}
            required
            {...field('bank')}
            options={[
              ['', t('Escolha', 'Choose')],
              ...BANKS,
              [OTHER_BANK, t('Outro banco, pelo ISPB', 'Another bank, by its ISPB')],
            ]}
          />
          {fields.bank === OTHER_BANK && (
            <Input
              label={t('ISPB do banco', 'ISPB of the bank')}
              hint={t('8 dígitos, que o banco informa.', '8 digits, which the bank tells.')}
              inputMode="numeric"
              maxLength={8}
              required
              {...field('ispb')}
            />
          )}
          <Input
            label={t('Agência', 'Branch')}
            hint={t('Sem o dígito.', 'Without the check digit.')}
            inputMode="numeric"
            maxLength={4}
            autoComplete="off"
            required
            {...field('branch')}
          />
          <Input
            label={t('Conta', 'Account')}
            hint={t('Com o dígito.', 'With the check digit.')}
            maxLength={24}
            autoComplete="off"
            required
            {...field('number')}
          />
          <Choice
            label={t('Tipo de conta', 'Kind of account')}
            {...field('account_type')}
            options={['checking', 'savings', 'payment'].map((one) => [one, accountType(one, t)] as const)}
          />
          <Input label={t('Titular', 'Holder')} maxLength={120} autoComplete="off" required {...field('name')} />
        </>
      )}
      {(isAccount || (fields.type === 'pix_key' && key !== null && !isDocument(key.kind))) && (
        <Input
          label={
            isAccount
              ? t('CPF ou CNPJ do titular', 'CPF or CNPJ of the holder')
              : t('CPF ou CNPJ de quem recebe', 'CPF or CNPJ of the receiver')
          }
          {...(isAccount
            ? {}
            : { hint: t('O banco confere se a chave é desta pessoa.', 'The bank checks that the key is theirs.') })}
          maxLength={18}
          autoComplete="off"
          required
          {...field('tax_id')}
        />
      )}
    </>
  );
}
