import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { ChargeBody } from '../../../src/charges/dto/charge.body.js';
import type { PaymentBody } from '../../../src/payments/dto/payment.body.js';
import { ApiFailure, call, door } from '../api.js';
import { textOf } from '../forms.js';
import { money, parseAmount } from '../format.js';
import { useLanguage } from '../language.js';
import { useMayAct, useMode } from '../session.js';
import { Button, Card, Choice, Failure, Input, Page } from '../ui.js';
import { methodName } from '../words.js';

const METHODS = ['PIX', 'CREDIT_CARD', 'BOLETO', 'MBWAY', 'MULTIBANCO', 'CRYPTO'] as const;
/** Currencies with two decimal digits, as the typed amount is parsed. */
const CURRENCIES = ['BRL', 'EUR', 'USD'] as const;
const DESCRIPTION_MOST = 500;

/** Leaves out fields without a value. */
const unlessEmpty = (fields: Readonly<Record<string, string | undefined>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Creates a charge, with a code and a link to hand over. */
export function NewCharge(): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const navigate = useNavigate();
  // The idempotency key of the form: a form sent twice makes one charge.
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [methods, setMethods] = useState<readonly string[]>(['PIX']);
  const [chosen, setChosen] = useState('BRL');
  const isPixAlone = methods.join() === 'PIX';
  // Pix and boleto need reais.
  const isReal = methods.includes('PIX') || methods.includes('BOLETO');
  const currency = isReal ? 'BRL' : chosen;
  const parsed = parseAmount(typed, language);
  const create = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const form = new FormData(event.currentTarget);
    const given = (name: string): string | undefined => textOf(form, name) || undefined;
    const amount = parseAmount(given('amount') ?? '', language);
    setProblem(
      amount === null
        ? t('Escreva um valor como 129,90.', 'Write an amount as 129.90.')
        : methods.length === 0
          ? t('Escolha pelo menos uma forma de pagamento.', 'Choose at least one payment method.')
          : null,
    );
    setError(null);
    if (amount === null || methods.length === 0) return;
    setBusy(true);
    const [name, email, order, description] = ['name', 'email', 'order', 'description'].map(given);
    const document = given('document')?.replace(/[.\-/\s]/g, '');
    try {
      if (isPixAlone) {
        const customer = unlessEmpty({ name, document, email });
        const charge = await call<ChargeBody>(
          'POST',
          door(mode, '/charges'),
          {
            amount,
            payment_method: 'pix',
            expires_in: Number(form.get('expires_in')),
            ...unlessEmpty({ description }),
            ...(Object.keys(customer).length === 0 ? {} : { customer }),
            ...(order === undefined ? {} : { metadata: { order_id: order } }),
          },
          { 'Idempotency-Key': key },
        );
        await navigate({ to: `/${mode}/sales/${charge.id.slice(3)}` });
      } else {
        const payment = await call<PaymentBody>('POST', door(mode, '/payments'), {
          ...{ amount, currency, paymentMethods: methods, idempotencyKey: key },
          ...unlessEmpty({ customerName: name, customerDocument: document, customerEmail: email }),
          metadata: unlessEmpty({ description, order_id: order, phone: given('phone')?.replace(/[^+\d]/g, '') }),
        });
        await navigate({ to: `/${mode}/sales/${payment.id}` });
      }
    } catch (failure) {
      setError(failure);
      // If the service refused, nothing was made, and a corrected form is a new request. If the answer was lost, the
      // key must stay.
      if (failure instanceof ApiFailure && failure.status >= 400 && failure.status < 500) setKey(crypto.randomUUID());
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page title={t('Nova cobrança', 'New charge')}>
      {!mayAct && <p role="note">{t('Seu acesso é somente leitura.', 'Your access is read only.')}</p>}
      <Card>
        <form className="form" onSubmit={(event) => void create(event)}>
          <Input
            label={
              currency === 'BRL' ? t('Valor em reais', 'Amount in reais') : `${t('Valor em', 'Amount in')} ${currency}`
            }
            name="amount"
            inputMode="decimal"
            placeholder={t('129,90', '129.90')}
            required
            autoFocus
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            hint={
              parsed === null
                ? t('Como 129,90 ou 1.299,00.', 'As 129.90 or 1,299.00.')
                : money(parsed, currency, language)
            }
          />
          {problem !== null && (
            <p className="problem" role="alert">
              {problem}
            </p>
          )}
          <fieldset className="events">
            <legend>{t('Formas de pagamento', 'Payment methods')}</legend>
            {METHODS.map((method) => (
              <label key={method}>
                <input
                  type="checkbox"
                  checked={methods.includes(method)}
                  onChange={({ target }) =>
                    setMethods(METHODS.filter((one) => (one === method ? target.checked : methods.includes(one))))
                  }
                />{' '}
                {methodName(method, t)}
              </label>
            ))}
          </fieldset>
          {!isReal && methods.length > 0 && (
            <Choice
              label={t('Moeda', 'Currency')}
              value={chosen}
              onChange={(event) => setChosen(event.target.value)}
              options={CURRENCIES.map((one) => [one, one] as const)}
            />
          )}
          <Input
            label={t('Descrição (o pagador vê)', 'Description (the payer sees it)')}
            name="description"
            maxLength={DESCRIPTION_MOST}
          />
          <Input
            label={t('Pedido', 'Order')}
            name="order"
            maxLength={100}
            hint={t('Para encontrar a venda depois.', 'To find the sale later.')}
          />
          {isPixAlone && (
            <Choice
              label={t('Validade', 'Expires in')}
              name="expires_in"
              defaultValue="86400"
              options={[
                ['3600', t('1 hora', '1 hour')],
                ['21600', t('6 horas', '6 hours')],
                ['86400', t('1 dia', '1 day')],
              ]}
            />
          )}
          {methods.includes('MBWAY') && (
            <Input
              label={t('Celular do MB WAY', 'MB WAY phone')}
              name="phone"
              type="tel"
              maxLength={20}
              placeholder="+351 912 345 678"
              autoComplete="off"
              required
            />
          )}
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
