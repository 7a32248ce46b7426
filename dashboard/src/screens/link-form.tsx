import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { PaymentLinkBody } from '../../../src/payment-links/dto/payment-link.body.js';
import { useParam } from '../address.js';
import { ApiFailure, call, door } from '../api.js';
import { decimal, isoDay, type Language, parseAmount } from '../format.js';
import { useFields } from '../forms.js';
import { useLanguage } from '../language.js';
import { ASKABLE, asked, pagePath } from '../link-words.js';
import { useRefresh } from '../lists.js';
import { pictureOf } from '../picture.js';
import { useMayAct, useMode } from '../session.js';
import { Button, Card, Choice, Failure, Field, Input, Loading, Page, Unavailable } from '../ui.js';

const FIRST = {
  ...{ name: '', description: '', kind: 'fixed', amount: '', amount_min: '', amount_max: '' },
  ...{ max_payments: '', expires_at: '', ask: '', question: '', return_url: '' },
};
type Fields = Readonly<typeof FIRST>;

function fieldsOf(link: PaymentLinkBody, language: Language): Fields {
  const cents = (amount: number | null): string => (amount === null ? '' : decimal(amount, language));
  return {
    name: link.name,
    description: link.description ?? '',
    kind: link.amount === null ? 'chosen' : 'fixed',
    amount: cents(link.amount),
    amount_min: cents(link.amount_min),
    amount_max: cents(link.amount_max),
    max_payments: link.max_payments === null ? '' : String(link.max_payments),
    expires_at: link.expires_at === null ? '' : isoDay(new Date(link.expires_at)),
    ask: link.ask.join(' '),
    question: link.question ?? '',
    return_url: link.return_url ?? '',
  };
}

/** The terms of a link as the service takes them; null for what is empty. */
function termsOf(fields: Fields, language: Language): Readonly<Record<string, unknown>> {
  const text = (name: keyof Fields): string | null => fields[name].trim() || null;
  const cents = (name: keyof Fields, kind: string): number | null =>
    fields.kind === kind ? parseAmount(fields[name], language) : null;
  return {
    name: fields.name.trim(),
    description: text('description'),
    amount: cents('amount', 'fixed'),
    amount_min: cents('amount_min', 'chosen'),
    amount_max: cents('amount_max', 'chosen'),
    max_payments: fields.max_payments === '' ? null : Number(fields.max_payments),
    expires_at: text('expires_at'),
    ask: ASKABLE.filter((one) => fields.ask.split(' ').includes(one)),
    question: text('question'),
    return_url: text('return_url'),
  };
}

/** Makes a payment link. */
export function NewLink(): ReactNode {
  const { t } = useLanguage();
  return (
    <Page title={t('Novo link de pagamento', 'New payment link')}>
      <Form link={null} />
    </Page>
  );
}

/** Changes a payment link. */
export function EditLink(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const id = useParam('id');
  const link = useQuery({
    queryKey: [mode, 'link', id],
    queryFn: () => call<PaymentLinkBody>('GET', door(mode, `/payment-links/${encodeURIComponent(id)}`)),
  });
  if (link.error && !link.data) return <Unavailable error={link.error} retry={() => void link.refetch()} />;
  if (!link.data) return <Loading />;
  return (
    <Page title={t('Editar o link', 'Edit the link')}>
      <Form key={link.data.id} link={link.data} />
    </Page>
  );
}

function Form({ link }: { link: PaymentLinkBody | null }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const navigate = useNavigate();
  const refresh = useRefresh(mode);
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [first] = useState(() => (link === null ? FIRST : fieldsOf(link, language)));
  const { fields, set, field } = useFields(first);
  /** A new picture; null: none; undefined: as it is. */
  const [picture, setPicture] = useState<string | null | undefined>(undefined);
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const shown = picture === undefined ? (link?.picture == null ? null : `${pagePath(link)}/picture`) : picture;
  const wrongAmount = (fields.kind === 'fixed' ? (['amount'] as const) : (['amount_min', 'amount_max'] as const)).some(
    (name) => (fields.kind === 'fixed' || fields[name].trim() !== '') && parseAmount(fields[name], language) === null,
  );
  const takePicture = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const read = await pictureOf(file);
    setProblem(read === null ? t('Este arquivo não é uma imagem.', 'This file is no picture.') : null);
    if (read !== null) setPicture(read);
  };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setError(null);
    setProblem(wrongAmount ? t('Escreva um valor como 129,90.', 'Write an amount as 129.90.') : null);
    if (wrongAmount) return;
    setBusy(true);
    try {
      const path = door(mode, '/payment-links');
      const [before, after] = [termsOf(first, language), termsOf(fields, language)];
      // An end that has passed is refused, so a change sends nothing that has stayed.
      const isSent = ([name, value]: [string, unknown]): boolean =>
        link === null ? value !== null : JSON.stringify(value) !== JSON.stringify(before[name]);
      const body = {
        ...Object.fromEntries(Object.entries(after).filter(isSent)),
        ...(picture === undefined || (link === null && picture === null) ? {} : { picture }),
      };
      const { id } =
        link === null
          ? await call<PaymentLinkBody>('POST', path, body, { 'Idempotency-Key': key })
          : await call<PaymentLinkBody>('PATCH', `${path}/${link.id}`, body);
      await refresh();
      await navigate({ to: `/${mode}/links/${id}` });
    } catch (failure) {
      setError(failure);
      // If the answer was lost, the link may have been made, so the key stays.
      if (failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500) setKey(crypto.randomUUID());
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card>
      <form className="form" onSubmit={(event) => void save(event)}>
        {!mayAct && <p role="note">{t('Seu acesso é somente leitura.', 'Your access is read only.')}</p>}
        <Input
          label={t('O que você vende', 'What you sell')}
          maxLength={120}
          required
          autoFocus={link === null}
          {...field('name')}
        />
        <Field label={t('Descrição (opcional)', 'Description (optional)')}>
          {(named) => <textarea {...named} rows={3} maxLength={1000} {...field('description')} />}
        </Field>
        <Choice
          label={t('Preço', 'Price')}
          options={[
            ['fixed', t('Valor fixo', 'Fixed amount')],
            ['chosen', t('Quem paga escolhe', 'The payer chooses')],
          ]}
          {...field('kind')}
        />
        {fields.kind === 'fixed' ? (
          <Input
            label={t('Valor em reais', 'Amount in reais')}
            inputMode="decimal"
            placeholder={t('129,90', '129.90')}
            required
            {...field('amount')}
          />
        ) : (
          <>
            <Input
              label={t('Valor mínimo (opcional)', 'Least amount (optional)')}
              inputMode="decimal"
              {...field('amount_min')}
            />
            <Input
              label={t('Valor máximo (opcional)', 'Greatest amount (optional)')}
              inputMode="decimal"
              {...field('amount_max')}
            />
          </>
        )}
        <Input
          label={t('Foto (opcional)', 'Picture (optional)')}
          type="file"
          accept="image/*"
          onChange={({ target }) => void takePicture(target.files?.[0])}
        />
        {shown !== null && (
          <p className="picture">
            <img src={shown} alt={t('Foto do que você vende', 'Picture of what you sell')} />
            <Button onClick={() => setPicture(null)}>{t('Sem foto', 'No picture')}</Button>
          </p>
        )}
        <fieldset className="events">
          <legend>{t('O que quem paga informa', 'What the payer enters')}</legend>
          {ASKABLE.map((one) => (
            <label key={one}>
              <input
                type="checkbox"
                checked={fields.ask.split(' ').includes(one)}
                onChange={({ target }) =>
                  set({
                    ask: ASKABLE.filter((other) =>
                      other === one ? target.checked : fields.ask.split(' ').includes(other),
                    ).join(' '),
                  })
                }
              />{' '}
              {asked(one, t)}
            </label>
          ))}
        </fieldset>
        <Input
          label={t('Pergunta a quem paga (opcional)', 'Question to the payer (optional)')}
          maxLength={140}
          placeholder={t('Tamanho, sabor, horário…', 'Size, flavour, time…')}
          {...field('question')}
        />
        <Input
          label={t('Quantas vezes pode ser pago (opcional)', 'How often it can be paid (optional)')}
          hint={t('Vazio: sem limite.', 'Empty: no limit.')}
          type="number"
          min={Math.max(1, link?.paid_count ?? 1)}
          max={1_000_000}
          {...field('max_payments')}
        />
        <Input
          label={t('Vale até (opcional)', 'Open until (optional)')}
          hint={t('O dia inteiro. Vazio: sem prazo.', 'The whole day. Empty: no deadline.')}
          type="date"
          {...field('expires_at')}
        />
        <Input
          label={t('Para onde vai quem pagou (opcional)', 'Where the payer goes afterwards (optional)')}
          hint={t('O endereço de uma página sua, com https://.', 'The address of a page of yours, with https://.')}
          type="url"
          maxLength={2048}
          {...field('return_url')}
        />
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        {error !== null && <Failure error={error} />}
        <Button tone="primary" type="submit" disabled={isBusy || !mayAct}>
          {isBusy ? t('Salvando…', 'Saving…') : link === null ? t('Criar link', 'Create link') : t('Salvar', 'Save')}
        </Button>
      </form>
    </Card>
  );
}
