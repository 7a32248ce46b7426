import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type LostPower, MembersService } from '../accounts/index.js';
import type { Tx } from '../core/database/index.js';
import { bilingualMail, Mailer } from '../core/mail/index.js';
import { plainWords } from '../core/text.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeysRepository } from './api-keys.repository.js';

/** Tells the owners which API keys somebody had issued who may issue none any more: the keys go on working. */
@Injectable()
export class LeftKeysService implements OnModuleInit {
  constructor(
    private readonly members: MembersService,
    private readonly keys: ApiKeysRepository,
    private readonly mailer: Mailer,
  ) {}

  onModuleInit(): void {
    this.members.whenPowerIsLost((tx, lost) => this.#tell(tx, lost));
  }

  async #tell(tx: Tx, lost: LostPower): Promise<void> {
    const { accountId, member, owners } = lost;
    const left = await this.keys.issuedBy(tx, accountId, member.userId);
    if (left.length === 0) return;
    for (const { email } of owners) {
      this.mailer.enqueue(tx, { accountId, to: email, ...leftKeysMail(lost, left) });
    }
  }
}

function leftKeysMail({ member, hasLeft }: LostPower, keys: readonly ApiKey[]): ReturnType<typeof bilingualMail> {
  const { email } = member;
  const name = plainWords(member.name);
  const lines = keys.map(({ prefix, label, id }) => `${prefix}… ${plainWords(label ?? '')} (${id})`);
  return bilingualMail({
    subject: `Chaves de API de ${name} / API keys of ${name}`,
    portuguese: [
      hasLeft
        ? `${name} (${email}) não faz mais parte da conta.`
        : `${name} (${email}) continua na conta, agora com o papel MEMBER.`,
      'As chaves de API que essa pessoa criou continuam funcionando:',
      ...lines,
      'Se ela pode tê-las guardado, troque-as: POST /v1/api-keys/{id}/rotate.',
    ],
    english: [
      hasLeft
        ? `${name} (${email}) is no member of the account any more.`
        : `${name} (${email}) stays in the account, with the role MEMBER now.`,
      'The API keys that they issued go on working:',
      ...lines,
      'If they may have kept them, rotate them: POST /v1/api-keys/{id}/rotate.',
    ],
  });
}
