import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { ChargeBody } from '../../../src/charges/dto/charge.body.js';
import { ApiFailure, call, door } from '../api.js';
import { textOf } from '../forms.js';
import { money, parseAmount } from '../format.js';
import { useLanguage } from '../language.js';
import { useMayAct, useMode } from '../session.js';
import { Button, Card, Choice, Failure, Input, Page } from '../ui.js';

/** A code and a link to hand over. */
export function NewCharge(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const navigate = useNavigate();
  // One for each form that is opened: sent twice it is one charge.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const parsed = parseAmount(typed, language);
  const create = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const form = new FormData(event.currentTarget);
    const given = (name: string): string | undefined => textOf(form, name) || undefined;
    const amount = parseAmount(given('amount') ?? '', language);
    setProblem(amount === null ? t('Escreva um valor como 129,90.', 'Write an amount as 129.90.') : null);
    setError(null);
    if (amount === null) return;
    setBusy(true);
    const customer = {
      name: given('name'),
      document: given('document')?.replace(/[.\-/\s]/g, ''),
      email: given('email'),
    };
    const order = given('order');
    try {
      const charge = await call<ChargeBody>(
        'POST',
        door(mode, '/charges'),
        {
          amount,
          payment_method: 'pix',
          description: given('description'),
          expires_in: Number(form.get('expires_in')),
          ...(Object.values(customer).some((value) => value !== undefined) ? { customer } : {}),
          ...(order === undefined ? {} : { metadata: { order_id: order } }),
        },
        { 'Idempotency-Key': key },
      );
      await navigate({ to: `/${mode}/sales/${charge.id.slice(3)}` });
    } catch (failure) {
      setError(failure);
      // Refused, nothing was made: what is mended is another request. Of an answer that was lost nobody knows that.
      if (failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500) setKey(crypto.randomUUID());
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page title={t('Nova cobrança', 'New charge')}>
      {!mayAct && <p role="note">{t('O seu papel só pode ler.', 'Your role can only read.')}</p>}
      <Card>
        <form className="form" onSubmit={(event) => void create(event)}>
          <Input
            label={t('Valor em reais', 'Amount in reais')}
            name="amount"
            inputMode="decimal"
            placeholder="129,90"
            required
            autoFocus
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            hint={
              parsed === null ? t('Como 129,90 ou 1.299,00.', 'As 129.90 or 1,299.00.') : money(parsed, 'BRL', language)
            }
          />
          {problem !== null && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
          <Input
            label={t('Descrição (o pagador vê)', 'Description (the payer sees it)')}
            name="description"
            maxLength={140}
          />
          <Input
            label={t('Pedido', 'Order')}
            name="order"
            maxLength={100}
            hint={t('Para achar a venda depois.', 'To find the sale later.')}
          />
          <Choice
            label={t('Vale por', 'Good for')}
            name="expires_in"
            defaultValue="86400"
            options={[
              ['3600', t('1 hora', '1 hour')],
              ['86400', t('1 dia', '1 day')],
              ['604800', t('7 dias', '7 days')],
              ['2592000', t('30 dias', '30 days')],
            ]}
          />
          <details>
            <summary>{t('Cliente (opcional)', 'Customer (optional)')}</summary>
            <Input label={t('Nome', 'Name')} name="name" maxLength={200} autoComplete="off" />
            <Input label={t('CPF ou CNPJ', 'CPF or CNPJ')} name="document" maxLength={18} autoComplete="off" />
            <Input
              label={t('E-mail (recebe o comprovante)', 'E-mail (gets the receipt)')}
              name="email"
              type="email"
              maxLength={254}
              autoComplete="off"
            />
          </details>
          {error !== null && <Failure error={error} />}
          <Button tone="primary" type="submit" disabled={isBusy || !mayAct}>
            {isBusy ? t('Criando…', 'Creating…') : t('Criar cobrança', 'Create charge')}
          </Button>
        </form>
      </Card>
    </Page>
  );
}
