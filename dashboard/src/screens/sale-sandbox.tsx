import type { ReactNode } from 'react';
import type { MedCaseBody } from '../../../src/med/desk/dto/med-case.body.js';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import { call, door } from '../api.js';
import { useLanguage } from '../language.js';
import { useMode } from '../session.js';
import { ActButton, Card } from '../ui.js';
import { methodName } from '../words.js';

/** Buttons for the sandbox bank's possible actions on the sale in its current state. */
export function Sandbox({
  sale,
  cases,
  refresh,
}: {
  sale: PaymentDetailBody;
  cases: readonly MedCaseBody[];
  refresh: () => Promise<void>;
}): ReactNode {
  const { t } = useLanguage();
  const mode = useMode();
  const hasCard = sale.paymentMethods.includes('CREDIT_CARD');
  const isDisputed = cases.some(({ status }) => ['open', 'appealed'].includes(status));
  const acts: [event: { event: string; method?: string; result?: string }, name: string][] = [];
  if (['PENDING', 'WAITING_PAYMENT'].includes(sale.status) || (sale.status === 'PROCESSING' && hasCard)) {
    for (const method of sale.paymentMethods) {
      const name = sale.paymentMethods.length === 1 ? '' : ` ${t('com', 'by')} ${methodName(method, t)}`;
      acts.push([{ event: 'pay', method }, `${t('Pagar', 'Pay')}${name}`]);
    }
    if (hasCard && sale.status === 'WAITING_PAYMENT')
      acts.push([{ event: 'processing' }, t('Autenticar o cartão', 'Authenticate the card')]);
    acts.push([{ event: 'fail' }, t('Recusar', 'Refuse')], [{ event: 'expire' }, t('Expirar', 'Expire')]);
  }
  if (['PAID', 'APPROVED'].includes(sale.status)) {
    if (sale.paidWith === 'PIX') acts.push([{ event: 'med_open' }, t('Abrir MED', 'Open a MED')]);
    if (sale.paidWith === 'CREDIT_CARD')
      acts.push(
        [{ event: 'chargeback' }, t('Contestar no cartão', 'Charge back')],
        [{ event: 'dispute' }, t('Não reconhecer', 'Not recognise')],
        [{ event: 'fraud' }, t('Denunciar fraude', 'Report fraud')],
      );
    acts.push([{ event: 'refund_fail' }, t('O próximo reembolso falha', 'The next refund fails')]);
  }
  if (isDisputed)
    acts.push(
      [{ event: 'med_rule', result: 'disagreed' }, t('Decidir pela loja', 'Rule for the shop')],
      [{ event: 'med_rule', result: 'agreed' }, t('Decidir pelo pagador', 'Rule for the payer')],
      [{ event: 'med_withdraw' }, t('Retirar a disputa', 'Withdraw the dispute')],
    );
  if (acts.length === 0) return null;
  return (
    <Card title={t('Teste', 'Test')}>
      <p>{t('O que o banco e o pagador fazem:', 'What the bank and the payer do:')}</p>
      <div className="actions">
        {acts.map(([event, name], index) => (
          <ActButton
            key={name}
            {...(index === 0 && event.event === 'pay' ? { tone: 'primary' as const } : {})}
            act={() => call('POST', door(mode, `/sandbox/payments/${sale.id}/simulate`), event).then(refresh)}
          >
            {`${name} ${t('(teste)', '(test)')}`}
          </ActButton>
        ))}
      </div>
    </Card>
  );
}
