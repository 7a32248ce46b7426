import { type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import type { PaymentDetailBody } from '../../../src/payments/dto/payment.body.js';
import { money } from '../format.js';
import { useLanguage } from '../language.js';
import { useSession } from '../session.js';
import { Share } from '../share.js';
import { Button, Card, Facts, Id, Money, Time } from '../ui.js';

/** Payment data for the payer, for each method. */
export function Pay({ sale }: { sale: PaymentDetailBody }): ReactNode {
  const { t, language } = useLanguage();
  const outside = (href: string, text: string): ReactNode => (
    <a href={href} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
  const { account } = useSession();
  const [isPrinting, setPrinting] = useState(false);
  const isPix = sale.paymentMethods.includes('PIX');
  const page = `${location.origin}/checkout/${sale.id}`;
  const amount = money(sale.amount, sale.currency, language);
  const shop = account?.name ?? '';
  return (
    <Card title={t('Para pagar', 'To pay')}>
      {isPix && (
        <Share
          url={page}
          what={t('Página de pagamento', 'Payment page')}
          to={sale.customerEmail}
          subject={t(`Cobrança de ${amount} · ${shop}`, `Payment of ${amount} · ${shop}`)}
          text={t(`Para pagar ${amount} a ${shop}:`, `To pay ${amount} to ${shop}:`)}
        >
          {sale.pixCopyPaste !== null && (
            <Button icon="printer" onClick={() => setPrinting(true)}>
              {t('Imprimir QR Code', 'Print the QR code')}
            </Button>
          )}
        </Share>
      )}
      {isPrinting && <Poster sale={sale} shop={shop} done={() => setPrinting(false)} />}
      {sale.pixCopyPaste !== null && (
        <img
          className="qr"
          src={`/checkout/${sale.id}/qr.png`}
          alt={t('QR Code do Pix', 'QR code of the Pix')}
          width={192}
          height={192}
        />
      )}
      <Facts
        rows={[
          // The checkout exists if Pix is one of the methods, and offers the others too.
          ['Link', isPix && <Id value={page} label={t('o link', 'the link')} />],
          [
            t('Pix copia e cola', 'Pix code'),
            sale.pixCopyPaste !== null && <Id value={sale.pixCopyPaste} label={t('o código Pix', 'the Pix code')} />,
          ],
          [t('Vale até', 'Good until'), sale.pixExpiresAt !== null && <Time at={sale.pixExpiresAt} />],
          [
            t('Cartão', 'Card'),
            sale.cardRedirectUrl !== null && (
              <>
                {outside(sale.cardRedirectUrl, t('abrir a página do cartão', 'open the card’s page'))}{' '}
                <Id value={sale.cardRedirectUrl} label={t('o link do cartão', 'the card’s link')} />
              </>
            ),
          ],
          [
            t('Linha do boleto', 'Line of the boleto'),
            sale.boletoLine !== null && (
              <Id value={sale.boletoLine} label={t('a linha do boleto', 'the line of the boleto')} />
            ),
          ],
          ['Boleto', sale.boletoPdfUrl !== null && outside(sale.boletoPdfUrl, t('abrir o PDF', 'open the PDF'))],
          [t('Boleto vence', 'Boleto is due'), sale.boletoExpiresAt !== null && <Time at={sale.boletoExpiresAt} />],
          [t('Entidade Multibanco', 'Multibanco entity'), sale.mbEntity !== null && <Id value={sale.mbEntity} />],
          [
            t('Referência Multibanco', 'Multibanco reference'),
            sale.mbReference !== null && <Id value={sale.mbReference} />,
          ],
          [
            t('Multibanco vale até', 'Multibanco good until'),
            sale.mbExpiresAt !== null && <Time at={sale.mbExpiresAt} />,
          ],
          [
            'MB WAY',
            sale.paymentMethods.includes('MBWAY') &&
              t('O pedido está no celular do cliente.', 'The request is on the customer’s phone.') +
                (typeof sale.metadata['phone'] === 'string' ? ` (${sale.metadata['phone']})` : ''),
          ],
          [
            t('Endereço da cripto', 'Crypto address'),
            sale.cryptoAddress !== null && (
              <Id value={sale.cryptoAddress} label={t('o endereço da cripto', 'the crypto address')} />
            ),
          ],
          [
            t('Quanto enviar', 'How much to send'),
            sale.cryptoAddress !== null &&
              `${cryptoAmount(sale.cryptoAmount, language)} ${sale.cryptoCurrency ?? ''} (${sale.cryptoNetwork ?? ''})`,
          ],
        ]}
      />
    </Card>
  );
}

/** A page with the QR code of the Pix, which the browser prints instead of the screen. @param done called afterwards */
function Poster({ sale, shop, done }: { sale: PaymentDetailBody; shop: string; done: () => void }): ReactNode {
  const { t } = useLanguage();
  useEffect(() => {
    addEventListener('afterprint', done);
    return () => removeEventListener('afterprint', done);
  }, [done]);
  const description = sale.metadata['description'];
  return createPortal(
    <div className="poster" aria-hidden="true">
      <p className="figure">{shop}</p>
      {typeof description === 'string' && <p>{description}</p>}
      <p className="figure">
        <Money {...sale} />
      </p>
      <img src={`/checkout/${sale.id}/qr.png`} alt="" onLoad={() => print()} onError={done} />
      <p>{t('Aponte a câmera do aplicativo do seu banco.', 'Point the camera of your bank’s app at it.')}</p>
      {sale.pixExpiresAt !== null && (
        <p>
          {t('Vale até', 'Good until')} <Time at={sale.pixExpiresAt} />
        </p>
      )}
    </div>,
    document.body,
  );
}

/** Decimal digits as wallets expect them. */
function cryptoAmount(amount: number | null, language: string): string {
  return amount === null ? '–' : amount.toLocaleString(language, { maximumFractionDigits: 12 });
}
