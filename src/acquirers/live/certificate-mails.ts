import type { Account } from '../../accounts/index.js';
import type { ConnectionSummary } from '../pix-api/connections.repository.js';
import { DAY_MS } from '../../core/clock.js';
import { bilingualMail, type Mail } from '../../core/mail/index.js';

/**
 * Tells the account's contact that its certificate at a PSP ends soon, or has ended.
 * @param connections the connections with this certificate, at least one
 */
export function certificateMail(
  { id, contactEmail }: Account,
  connections: readonly ConnectionSummary[],
  expiresAt: Date,
  now: Date,
): Mail {
  const days = Math.ceil((expiresAt.getTime() - now.getTime()) / DAY_MS);
  const day = expiresAt.toISOString().slice(0, 10);
  const psps = [...new Set(connections.map(({ profile }) => profile))].join(', ');
  const keys = connections.map(({ pixKey }) => pixKey).join(', ');
  const portuguese = days > 0 ? `expira em ${days} ${days === 1 ? 'dia' : 'dias'}` : 'expirou';
  const english = days > 0 ? `expires in ${days} ${days === 1 ? 'day' : 'days'}` : 'has expired';
  return {
    accountId: id,
    to: contactEmail,
    ...bilingualMail({
      subject: `Certificado do PSP ${portuguese}: ${psps} / PSP certificate ${english}`,
      portuguese: [
        `O certificado com que recebemos Pix em seu nome no PSP ${psps} ${portuguese} (${day}).`,
        `Chaves Pix: ${keys}`,
        'Sem um certificado válido nenhuma cobrança nova é criada e nenhuma devolução é feita. Pagamentos já feitos não se perdem: são reconhecidos quando o certificado for renovado.',
        'Peça um novo certificado ao PSP e entregue-o a quem opera este serviço, que o instala com "acquirer configure", sem interrupção.',
      ],
      english: [
        `The certificate with which we receive Pix in your name at the PSP ${psps} ${english} (${day}).`,
        `Pix keys: ${keys}`,
        'Without a valid certificate no new charge is created and no refund is made. Payments made meanwhile are not lost: they are recognised once the certificate is renewed.',
        'Ask the PSP for a new certificate and hand it to whoever runs this service, who installs it with "acquirer configure", without interruption.',
      ],
    }),
  };
}
