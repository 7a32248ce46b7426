import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { PayoutDestinationBody } from '../../../src/payouts/dto/payout-destination.body.js';
import type { PayoutBody } from '../../../src/payouts/dto/payout.body.js';
import type { BalanceBody } from '../../../src/wallets/dto/wallet.body.js';
import { useQueryText } from '../address.js';
import { ApiFailure, call, door } from '../api.js';
import { decimal, type Language, money, parseAmount } from '../format.js';
import { useFields } from '../forms.js';
import { type Translate, useLanguage } from '../language.js';
import { useRefresh } from '../lists.js';
import { useDestinations } from '../payout-destinations.js';
import { destinationName, receiverFacts } from '../payout-words.js';
import { readCode, RECEIVER, shownReceiver, targetOf } from '../receiver.js';
import { useScheduledAccount } from '../schedule.js';
import { useMayAct, useMode } from '../session.js';
import { Button, Card, Choice, Facts, Failure, Input, Link, Loading, Page, REST_MS } from '../ui.js';
import { reaisOf } from './balance-facts.js';
import { receiverProblem, ReceiverFields } from './receiver-fields.js';

const DESCRIPTION_MOST = 140;

/** Sends available money to a bank account, after a step in which it is checked. */
export function NewPayout(): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const balance = useQuery({
    queryKey: [mode, 'balance'],
    queryFn: () => call<BalanceBody>('GET', door(mode, '/wallets/balance')),
    refetchInterval: 10_000,
  });
  const account = useScheduledAccount();
  const { query: saved, destinations } = useDestinations();
  const failed = [balance, account, saved].find(({ error, data }) => error !== null && data === undefined);
  return (
    <Page title={t('Novo saque', 'New payout')}>
      {!mayAct && (
        <p role="note">
          {t(
            'Seu acesso é somente leitura: um dono ou administrador faz saques.',
            'Your role can only read: an owner or administrator makes payouts.',
          )}
        </p>
      )}
      {failed && <Failure error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !(balance.data && account.data && saved.data) && <Loading />}
      {balance.data && account.data && saved.data && (
        <>
          {mode === 'live' && account.data.tax_id === null && (
            <p role="note">
              {t(
                'Falta o CPF ou CNPJ da conta: peça a quem opera o serviço que o cadastre. Antes disso não há saques em produção.',
                'The account has no CPF or CNPJ: ask whoever runs the service to set it. There are no live payouts before that.',
              )}
            </p>
          )}
          <Form
            available={reaisOf(balance.data)}
            fee={account.data.payout_fee}
            approvalAbove={account.data.payout_approval_above}
            destinations={destinations}
          />
        </>
      )}
    </Page>
  );
}

function Form({
  available,
  fee,
  approvalAbove,
  destinations,
}: {
  available: number;
  fee: number;
  approvalAbove: number | null;
  destinations: readonly PayoutDestinationBody[];
}): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const mayAct = useMayAct();
  const navigate = useNavigate();
  const refresh = useRefresh(mode);
  const asked = useQueryText();
  // The whole form has one key: a double click, or a repetition after a lost answer, is one payout. A refusal leaves
  // the key free, so that a corrected form may use it.
  const [key] = useState(() => crypto.randomUUID());
  const receiver = useFields(RECEIVER);
  const first = destinations.find(({ id }) => id === asked.destination) ?? destinations[0];
  const { fields, set, field } = useFields({ destination: first?.id ?? '', amount: '', description: '', label: '' });
  const [isSaved, setSaved] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const [isResting, setResting] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  const text = (cents: number): string => money(cents, 'BRL', language);
  const saved = destinations.find(({ id }) => id === fields.destination);
  const target = saved === undefined ? targetOf(receiver.fields) : null;
  const isCode = saved === undefined && receiver.fields.type === 'br_code';
  const code = isCode ? readCode(receiver.fields.br_code) : null;
  const fixed = code?.amount ?? null;
  const amount = fixed ?? parseAmount(fields.amount, language);
  const description = fields.description.trim();
  const label = fields.label.trim();
  const most = Math.max(available - fee, 0);
  const short =
    fee === 0
      ? t(`O saldo disponível é ${text(available)}.`, `${text(available)} are available.`)
      : t(
          `O saldo disponível é ${text(available)}: dá para sacar até ${text(most)}, mais a tarifa de ${text(fee)}.`,
          `${text(available)} are available: up to ${text(most)} can be paid out, beside the fee of ${text(fee)}.`,
        );

  /** A second press of the same click must not go on to the next step. */
  const rest = (): void => {
    setResting(true);
    setTimeout(() => setResting(false), REST_MS);
  };
  const check = (event: FormEvent): void => {
    event.preventDefault();
    if (isResting) return;
    const wrong =
      saved === undefined && target === null
        ? receiverProblem(receiver.fields, t)
        : amount === null
          ? t('Escreva um valor como 129,90.', 'Write an amount as 129.90.')
          : amount > most
            ? t(
                `O valor passa do que dá para sacar: ${text(most)}.`,
                `The amount is above what can be paid out: ${text(most)}.`,
              )
            : null;
    setProblem(wrong);
    setError(null);
    if (wrong !== null) return;
    setConfirming(true);
    rest();
  };
  const goBack = (): void => {
    setConfirming(false);
    setError(null);
    rest();
  };
  const send = async (allowsDuplicate = false): Promise<void> => {
    if (isBusy || isResting || amount === null) return;
    setBusy(true);
    setError(null);
    try {
      const kept =
        isSaved && !isCode && target !== null
          ? await call<PayoutDestinationBody>('POST', door(mode, '/payout-destinations'), {
              ...target,
              ...(label === '' ? {} : { label }),
            })
          : saved;
      const payout = await call<PayoutBody>(
        'POST',
        door(mode, '/payouts'),
        {
          amount,
          destination: kept?.id ?? target,
          ...(description === '' ? {} : { description }),
          ...(allowsDuplicate ? { allow_duplicate: true } : {}),
        },
        { 'Idempotency-Key': key },
      );
      void refresh();
      await navigate({ to: `/${mode}/payouts/${payout.id}` });
    } catch (failure) {
      setError(failure);
      rest();
    } finally {
      setBusy(false);
    }
  };

  if (isConfirming && amount !== null) {
    const shown = saved ?? (target && shownReceiver(target));
    const duplicate = error instanceof ApiFailure && error.code === 'likely_duplicate' ? error : null;
    const isLost = error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
    return (
      <Card title={t('Confira antes de enviar', 'Check before sending')}>
        <div ref={focusFirst} tabIndex={-1}>
          <Facts
            rows={[
              [t('Para', 'To'), saved?.label ?? (isSaved && label !== '' ? label : false)],
              ...(shown ? receiverFacts(shown, t) : []),
              [t('Titular', 'Holder'), target?.type === 'bank_account' && target.name],
              [t('Nome no código', 'Name in the code'), code !== null && code.name],
              [t('Descrição', 'Description'), description !== '' && description],
              [t('Valor', 'Amount'), <strong>{text(amount)}</strong>],
              [t('Tarifa', 'Fee'), text(fee)],
              [t('Sai do saldo', 'Leaves the balance'), text(amount + fee)],
              [t('Fica disponível', 'Stays available'), text(available - amount - fee)],
            ]}
          />
        </div>
        {approvalAbove !== null && amount > approvalAbove && (
          <p role="note">
            {t(
              `Acima de ${text(approvalAbove)}, o saque aguarda a aprovação de outra pessoa, dono ou administrador.`,
              `Above ${text(approvalAbove)}, a payout waits for the approval of another person, owner or administrator.`,
            )}
          </p>
        )}
        {duplicate ? (
          <div className="failure" role="alert">
            <h2>{t('Enviar de novo?', 'Send again?')}</h2>
            <p>
              {t(
                `Um saque de ${text(amount)} para este destino já foi pedido há menos de dez minutos.`,
                `A payout of ${text(amount)} to this destination was requested within the last ten minutes.`,
              )}{' '}
              <First id={/po_[0-9a-f-]{36}/.exec(duplicate.message)?.[0]} />
            </p>
          </div>
        ) : (
          error !== null && <Failure error={error} refused={refusals(error, t, language, short)} />
        )}
        {isLost && (
          <p role="note">
            {t(
              'Pode tentar de novo por aqui: o saque é enviado uma vez só.',
              'You can try again here: the payout is sent only once.',
            )}
          </p>
        )}
        {error instanceof ApiFailure && error.code === 'idempotency_key_reused' && (
          <p>
            <Link to={`/${mode}/payouts`}>{t('Ver os saques', 'See the payouts')}</Link>
          </p>
        )}
        <div className="actions">
          <Button onClick={goBack} isPending={isBusy || isResting}>
            {duplicate ? t('Não enviar', 'Do not send') : t('Voltar', 'Back')}
          </Button>
          <Button
            tone={duplicate ? 'danger' : 'primary'}
            isPending={isBusy || isResting}
            onClick={() => void send(duplicate !== null)}
          >
            {isBusy
              ? t('Enviando…', 'Sending…')
              : duplicate
                ? t(`Enviar ${text(amount)} de novo`, `Send ${text(amount)} again`)
                : t(`Enviar ${text(amount)}`, `Send ${text(amount)}`)}
          </Button>
        </div>
      </Card>
    );
  }
  return (
    <Card>
      <form className="form" onSubmit={check}>
        {destinations.length > 0 && (
          <Choice
            label={t('Destino', 'Destination')}
            {...field('destination')}
            options={[
              ...destinations.map((one) => [one.id, destinationName(one, t)] as const),
              ['', t('Outro destino', 'Another destination')],
            ]}
          />
        )}
        {saved === undefined && (
          <>
            <ReceiverFields receiver={receiver} mayBeCode />
            {!isCode && (
              <p>
                <label>
                  <input type="checkbox" checked={isSaved} onChange={({ target: { checked } }) => setSaved(checked)} />{' '}
                  {t('Salvar este destino', 'Save this destination')}
                </label>
              </p>
            )}
            {isSaved && !isCode && (
              <Input
                label={t('Nome do destino (opcional)', 'Name of the destination (optional)')}
                maxLength={60}
                placeholder={t('Conta principal', 'Main account')}
                {...field('label')}
              />
            )}
          </>
        )}
        <Input
          label={t('Valor em reais', 'Amount in reais')}
          inputMode="decimal"
          placeholder={t('129,90', '129.90')}
          required
          hint={
            fixed !== null
              ? t('O código já diz o valor.', 'The code says the amount.')
              : amount === null || amount > most
                ? short
                : `${text(amount)} · ${t(`ficam ${text(most - amount)}`, `${text(most - amount)} stay`)}`
          }
          {...field('amount')}
          {...(fixed === null ? {} : { value: decimal(fixed, language), readOnly: true })}
        />
        {fixed === null && most > 0 && (
          <p>
            <Button onClick={() => set({ amount: decimal(most, language) })}>
              {t(`Sacar tudo: ${text(most)}`, `Pay out all: ${text(most)}`)}
            </Button>
          </p>
        )}
        <Input
          label={t('Descrição (quem recebe vê, opcional)', 'Description (the receiver sees it, optional)')}
          maxLength={DESCRIPTION_MOST}
          {...field('description')}
        />
        {problem !== null && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <Button tone="primary" type="submit" disabled={!mayAct} isPending={isResting}>
          {t('Continuar', 'Continue')}
        </Button>
      </form>
    </Card>
  );
}

/** The pressed button is gone from the page, so the focus moves to what there is to check. */
function focusFirst(facts: HTMLElement | null): void {
  facts?.focus();
}

function First({ id }: { id: string | undefined }): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  if (id === undefined) return null;
  return <Link to={`/${mode}/payouts/${id}`}>{t('Ver esse saque', 'See that payout')}</Link>;
}

/** Texts with the figures of this payout. */
function refusals(error: unknown, t: Translate, language: Language, short: string): Readonly<Record<string, string>> {
  const message = error instanceof ApiFailure ? error.message : '';
  const [, limit = '', left] = /above (payout_\w+) of the account, which has (\d+) cents left/.exec(message) ?? [];
  const amount = money(Number(left ?? 0), 'BRL', language);
  const limits: Readonly<Record<string, string>> = {
    payout_max: t(`Cada saque vai até ${amount}.`, `Each payout may have up to ${amount}.`),
    payout_daily_max: t(
      `O limite de hoje ainda permite ${amount}. Amanhã ele começa de novo.`,
      `Today’s limit still allows ${amount}. Tomorrow it begins anew.`,
    ),
    payout_night_max: t(
      `Das 20h às 6h o limite é menor, e ainda permite ${amount}. Depois das 6h vale o limite do dia.`,
      `From 20:00 to 06:00 the limit is lower, and still allows ${amount}. After 06:00 the day’s limit holds.`,
    ),
  };
  return {
    insufficient_balance: short,
    ...(left === undefined || limits[limit] === undefined ? {} : { payout_limit_exceeded: limits[limit] }),
    idempotency_key_reused: t(
      'O primeiro envio deste formulário chegou, com outros dados. Veja os saques antes de fazer outro.',
      'The first request of this form arrived, with other data. See the payouts before you make another.',
    ),
  };
}
