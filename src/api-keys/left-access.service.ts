import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type LostPower, MembersService } from '../accounts/index.js';
import { AuditTrail, type WebhookTouched } from '../audit/index.js';
import type { Tx } from '../core/database/index.js';
import { bilingualMail, Mailer, utcTime } from '../core/mail/index.js';
import { plainWords } from '../core/text.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeysRepository } from './api-keys.repository.js';

/** Tells the owners what goes on working of somebody who may set up nothing any more: API keys, webhook endpoints and secrets. */
@Injectable()
export class LeftAccessService implements OnModuleInit {
  constructor(
    private readonly members: MembersService,
    private readonly keys: ApiKeysRepository,
    private readonly audit: AuditTrail,
    private readonly mailer: Mailer,
  ) {}

  onModuleInit(): void {
    this.members.whenPowerIsLost((tx, lost) => this.#tell(tx, lost));
  }

  async #tell(tx: Tx, lost: LostPower): Promise<void> {
    const { accountId, member, owners } = lost;
    const keys = await this.keys.issuedBy(tx, accountId, member.userId);
    const webhooks = await this.audit.webhooksTouchedBy(tx, accountId, member.userId);
    if (keys.length + webhooks.length === 0) return;
    for (const { email } of owners) {
      this.mailer.enqueue(tx, { accountId, to: email, ...leftAccessMail(lost, keys, webhooks) });
    }
  }
}

function leftAccessMail(
  { member, hasLeft }: LostPower,
  keys: readonly ApiKey[],
  webhooks: readonly WebhookTouched[],
): ReturnType<typeof bilingualMail> {
  const { email } = member;
  const name = plainWords(member.name);
  const keyLines = keys.map(({ prefix, label, id }) => `${prefix}… ${plainWords(label ?? '')} (${id})`);
  const endpointLines = webhooks.flatMap(({ endpointId, mode, host }) =>
    endpointId === null ? [] : [`${host ?? ''} (wh_${endpointId}, ${mode})`],
  );
  const secretLines = webhooks.flatMap(({ endpointId, mode, lastAt }) =>
    endpointId === null ? [`${mode}: ${utcTime(lastAt)}`] : [],
  );
  const part = (before: string, lines: readonly string[], after: string): string[] =>
    lines.length === 0 ? [] : [before, ...lines, after];
  return bilingualMail({
    subject: `Chaves e webhooks de ${name} / Keys and webhooks of ${name}`,
    portuguese: [
      hasLeft
        ? `${name} (${email}) não faz mais parte da conta.`
        : `${name} (${email}) continua na conta, agora com o papel MEMBER.`,
      ...part(
        'As chaves de API que essa pessoa criou continuam funcionando:',
        keyLines,
        'Se ela pode tê-las guardado, troque-as: POST /v1/api-keys/{id}/rotate.',
      ),
      ...part(
        'Continuam recebendo o que acontece na conta os endpoints de webhooks que essa pessoa registrou ou alterou, ou cujo segredo trocou:',
        endpointLines,
        'Exclua os que não são seus: DELETE /v1/webhooks/endpoints/{id}. Troque o segredo dos outros: POST /v1/webhooks/endpoints/{id}/rotate-secret.',
      ),
      ...part(
        'Essa pessoa trocou o segredo padrão dos webhooks, pela última vez em:',
        secretLines,
        'Se ela pode tê-lo guardado, troque-o: POST /v1/webhooks/default-secret/rotate.',
      ),
    ],
    english: [
      hasLeft
        ? `${name} (${email}) is no member of the account any more.`
        : `${name} (${email}) stays in the account, with the role MEMBER now.`,
      ...part(
        'The API keys that they issued go on working:',
        keyLines,
        'If they may have kept them, rotate them: POST /v1/api-keys/{id}/rotate.',
      ),
      ...part(
        'The webhook endpoints that they registered or changed, or whose secret they rotated, go on getting what happens in the account:',
        endpointLines,
        'Delete those that are not yours: DELETE /v1/webhooks/endpoints/{id}. Rotate the secret of the others: POST /v1/webhooks/endpoints/{id}/rotate-secret.',
      ),
      ...part(
        'They rotated the default secret of webhooks, for the last time at:',
        secretLines,
        'If they may have kept it, rotate it: POST /v1/webhooks/default-secret/rotate.',
      ),
    ],
  });
}
