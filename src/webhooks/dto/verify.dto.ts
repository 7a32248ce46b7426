import { IsString, MaxLength } from 'class-validator';
import { RequiredField, rule } from '../../core/http/index.js';

/** An object of header names to texts, or to lists of texts as some servers give repeated ones. */
function IsHeaders(): PropertyDecorator {
  const isText = (value: unknown): boolean => typeof value === 'string';
  return rule(
    'isHeaders',
    (value) =>
      value !== null &&
      typeof value === 'object' &&
      !Array.isArray(value) &&
      Object.values(value).every((inner) => isText(inner) || (Array.isArray(inner) && inner.every(isText))),
    'must be an object of header names to their values, as texts',
  );
}

export class VerifyDto {
  @IsString({ message: 'must be the raw body as a text, not parsed' })
  @RequiredField({
    description: 'The body of the webhook exactly as your receiver verifies it.',
    example: '{"event":"payment.completed","data":{"transactionId":"tx_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e"}}',
  })
  payload!: string;

  @IsHeaders()
  @RequiredField({
    description:
      'Headers of the webhook as your receiver got them: `X-Service-Signature`, and `X-Service-Delivery-Id` so that the body can be compared with what was sent. Others are ignored; names have no case, and `HTTP_X_SERVICE_SIGNATURE` is understood too.',
    type: 'object',
    additionalProperties: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    example: {
      'X-Service-Signature': 'sha256=31b41950bac51fd4610637ea6e923c56156c938e1212bd88ec62788bc0e1177d',
      'X-Service-Delivery-Id': 'wd_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5f',
    },
  })
  headers!: Record<string, string | string[]>;

  @IsString({ message: 'must be a text' })
  @MaxLength(1_000, { message: 'must have at most 1000 characters' })
  @RequiredField({
    description:
      'The secret that your receiver verifies with, as 64 hex digits or as `whsec_…`. It is not stored, logged or repeated.',
    maxLength: 1_000,
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  })
  secret!: string;
}
