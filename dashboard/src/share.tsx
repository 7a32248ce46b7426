import { type ReactNode, useState } from 'react';
import { useLanguage } from './language.js';
import { toast } from './toast.js';
import { Button } from './ui.js';
import { Icon, type IconName } from './icons.js';

/** A link to another page, which opens beside this one. */
export function Outside({
  href,
  icon = 'external-link',
  children,
}: {
  href: string;
  icon?: IconName;
  children: ReactNode;
}): ReactNode {
  return (
    <a className="button" href={href} target="_blank" rel="noreferrer">
      <Icon name={icon} />
      {children}
    </a>
  );
}

/**
 * Ways to hand a public page over: open it, copy its address, send it.
 * @param what the page is, for screen readers
 * @param text a message that stands before the address
 * @param to e-mail address that the mail is made for
 * @param children further ways
 */
export function Share({
  url,
  what,
  text,
  subject,
  to,
  children,
}: {
  url: string;
  what: string;
  text: string;
  subject: string;
  to: string | null;
  children?: ReactNode;
}): ReactNode {
  const { t } = useLanguage();
  // A page served neither over TLS nor from this machine may not copy, so it shows the address.
  const [isShown, setShown] = useState(false);
  const message = encodeURIComponent(`${text}\n${url}`);
  const copy = (): void => {
    if (!isSecureContext) return setShown(true);
    navigator.clipboard.writeText(url).then(
      () => toast(t('Link copiado.', 'Link copied.')),
      () => setShown(true),
    );
  };
  return (
    <>
      <div className="actions" role="group" aria-label={what}>
        <Outside href={url}>{t('Abrir', 'Open')}</Outside>
        <Button icon="copy" onClick={copy}>
          {t('Copiar link', 'Copy link')}
        </Button>
        <Outside href={`https://wa.me/?text=${message}`} icon="message-circle">
          WhatsApp
        </Outside>
        <a
          className="button"
          href={`mailto:${encodeURIComponent(to ?? '')}?subject=${encodeURIComponent(subject)}&body=${message}`}
        >
          <Icon name="mail" />
          E-mail
        </a>
        {children}
      </div>
      {isShown && (
        <p className="written" role="status">
          {url}
        </p>
      )}
    </>
  );
}
