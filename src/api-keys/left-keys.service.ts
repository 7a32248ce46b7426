import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MembersService, type RemovedMember } from '../accounts/index.js';
import type { Tx } from '../core/database/index.js';
import { bilingualMail, Mailer } from '../core/mail/index.js';
import { plainWords } from '../core/text.js';
import type { ApiKey } from './api-key.entity.js';
import { ApiKeysRepository } from './api-keys.repository.js';

/** Tells the owners which API keys a removed member had issued: the keys go on working. */
@Injectable()
export class LeftKeysService implements OnModuleInit {
  constructor(
    private readonly members: MembersService,
    private readonly keys: ApiKeysRepository,
    private readonly mailer: Mailer,
  ) {}

  onModuleInit(): void {
    this.members.whenRemoved((tx, removed) => this.#tell(tx, removed));
  }

  async #tell(tx: Tx, { accountId, member, owners }: RemovedMember): Promise<void> {
    const left = await this.keys.issuedBy(tx, accountId, member.userId);
    if (left.length === 0) return;
    for (const { email } of owners) {
      this.mailer.enqueue(tx, { accountId, to: email, ...leftKeysMail(member, left) });
    }
  }
}

function leftKeysMail(
  member: RemovedMember['member'],
  keys: readonly ApiKey[],
): ReturnType<typeof bilingualMail> {
  const { email } = member;
  const name = plainWords(member.name);
  const lines = keys.map(({ prefix, label, id }) => `${prefix}… ${plainWords(label ?? '')} (${id})`);
  return bilingualMail({
    subject: `Chaves de API de ${name} / API keys of ${name}`,
    portuguese: [
      `${name} (${email}) não faz mais parte da conta. As chaves de API que essa pessoa criou continuam funcionando:`,
      ...lines,
      'Se ela pode tê-las guardado, troque-as: POST /v1/api-keys/{id}/rotate.',
    ],
    english: [
      `${name} (${email}) is no member of the account any more. The API keys that they issued go on working:`,
      ...lines,
      'If they may have kept them, rotate them: POST /v1/api-keys/{id}/rotate.',
    ],
  });
}
