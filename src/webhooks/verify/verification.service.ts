import { Injectable } from '@nestjs/common';
import { Clock } from '../../core/clock.js';
import { SecretBox } from '../../core/crypto/index.js';
import { parseId } from '../../core/ids.js';
import { Logger } from '../../core/log/index.js';
import type { Scope } from '../../core/mode.js';
import { DeliveryLogRepository } from '../log/delivery-log.repository.js';
import type { VerificationBody } from '../dto/verification.body.js';
import { secretContext } from '../endpoints/endpoints.repository.js';
import { defaultSecretContext, type SealedSecrets, SecretsRepository } from '../endpoints/secrets.repository.js';
import { plainSecret } from '../endpoints/secrets.js';
import { type HeldSecret, type SentDelivery, verify } from './verification.js';
import { verificationBody } from './verification.serializer.js';

export interface VerificationRequest {
  readonly payload: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly secret: string;
}

/** Explains to merchants why their receiver refuses a webhook. Nothing that they send is stored. */
@Injectable()
export class VerificationService {
  constructor(
    private readonly repository: SecretsRepository,
    private readonly log: DeliveryLogRepository,
    private readonly secrets: SecretBox,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async verify(scope: Scope, request: VerificationRequest): Promise<VerificationBody> {
    const [sealed, delivery] = await Promise.all([
      this.repository.all(scope),
      this.#delivery(scope, headerOf(request.headers, 'x-service-delivery-id')),
    ]);
    const held = sealed.flatMap((one) => this.#open(scope, one));
    const signature = headerOf(request.headers, 'x-service-signature');
    const now = this.clock.now();
    const { payload } = request;
    const secret = plainSecret(request.secret);
    const verification = await verify({ payload, signature, secret }, held, delivery, now);
    return verificationBody(verification, delivery, now);
  }

  /** An id of another account or mode is treated as missing. */
  async #delivery(scope: Scope, id: string | null): Promise<SentDelivery | null> {
    if (id === null) return null;
    let uuid: string;
    try {
      uuid = parseId(id.trim(), ['wd_'], 'webhook delivery');
    } catch {
      return null;
    }
    const delivery = await this.log.find(scope, uuid);
    if (!delivery) return null;
    const attempts = await this.log.attempts(uuid);
    return {
      id: uuid,
      owner: delivery.kind === 'registered' ? delivery.endpointId : null,
      payload: delivery.payload,
      sentAt: attempts.map(({ startedAt }) => Math.floor(startedAt.getTime() / 1000)),
    };
  }

  #open({ accountId, mode }: Scope, sealed: SealedSecrets): HeldSecret[] {
    const { owner, secretSealed, previousSecretSealed } = sealed;
    const context = owner === null ? defaultSecretContext(accountId, mode) : secretContext(owner);
    const open = (age: HeldSecret['age'], bytes: Buffer | null): HeldSecret[] => {
      if (bytes === null) return [];
      try {
        return [{ secret: this.secrets.open(bytes, context), owner, age }];
      } catch (error) {
        // If an operator has lost a secret's key, that secret is skipped and the others are still compared.
        this.logger.error({ error, endpointId: owner }, 'the secret of a webhook endpoint cannot be opened');
        return [];
      }
    };
    return [...open('current', secretSealed), ...open('previous', previousSecretSealed)];
  }
}

/** Header names ignore case; PHP's and Python's servers give them as HTTP_X_SERVICE_SIGNATURE. */
function headerOf(headers: VerificationRequest['headers'], name: string): string | null {
  const found = Object.entries(headers).find(
    ([key]) =>
      key
        .toLowerCase()
        .replaceAll('_', '-')
        .replace(/^http-/, '') === name,
  );
  if (!found) return null;
  return typeof found[1] === 'string' ? found[1] : found[1].join(',');
}
