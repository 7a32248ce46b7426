import type { ReactNode } from 'react';
import type { PaymentDetailBody, ReceiptBody } from '../../../src/payments/dto/payment.body.js';
import { call, door } from '../api.js';
import { money } from '../format.js';
import { useLanguage } from '../language.js';
import { useMode, useSession } from '../session.js';
import { Share } from '../share.js';
import { ActButton, Card } from '../ui.js';

/** How long the public receipt exists after the payment. */
const PUBLIC_MS = 30 * 86_400_000;

/** The payer's receipt of a paid sale, and the one of the bank. */
export function SaleReceipt({ sale }: { sale: PaymentDetailBody }): ReactNode {
  const { t, language } = useLanguage();
  const mode = useMode();
  const { account } = useSession();
  if (sale.paidAt === null) return null;
  const amount = money(sale.amount, sale.currency, language);
  const shop = account?.name ?? '';
  const save = async (): Promise<void> => {
    const { base64 } = await call<ReceiptBody>('GET', door(mode, `/payments/${sale.id}/receipt`));
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const url = URL.createObjectURL(new Blob([bytes], { type: 'application/pdf' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `${sale.id}.pdf`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  const bank = (
    <ActButton icon="download" act={save}>
      {t('PDF do banco', 'PDF of the bank')}
    </ActButton>
  );
  return (
    <Card title={t('Comprovante', 'Receipt')}>
      {Date.now() - new Date(sale.paidAt).getTime() > PUBLIC_MS ? (
        <>
          <p className="quiet">
            {t(
              'O comprovante do cliente fica no ar por 30 dias. O do banco continua aqui.',
              'The customer’s receipt is online for 30 days. The bank’s stays here.',
            )}
          </p>
          <div className="actions">{bank}</div>
        </>
      ) : (
        <Share
          url={`${location.origin}/checkout/${sale.id}/receipt`}
          what={t('Comprovante', 'Receipt')}
          to={sale.customerEmail}
          subject={t(`Comprovante de ${amount} · ${shop}`, `Receipt of ${amount} · ${shop}`)}
          text={t(
            `Comprovante do pagamento de ${amount} a ${shop}:`,
            `Receipt of the payment of ${amount} to ${shop}:`,
          )}
        >
          {bank}
        </Share>
      )}
    </Card>
  );
}
