import { IsBoolean } from 'class-validator';
import { normalizePixKey } from '../../brazil/index.js';
import { DescriptiveText, IsAmount, OptionalEnum, OptionalField, RequiredField, rule } from '../../core/http/index.js';
import { IsIdempotencyKey } from '../../core/idempotency/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';
import type { RefundOrder } from '../../transactions/index.js';

export const REFUND_STRATEGIES = ['devolution', 'cashout'] as const;

function IsPixKey(): PropertyDecorator {
  return rule(
    'isPixKey',
    (value) => typeof value === 'string' && value.length <= 100 && normalizePixKey(value) !== null,
    'must be a Pix key: a CPF, a CNPJ, an e-mail address, a phone as +5511987654321, or a random key (UUID)',
  );
}

/** Refuses a key with a devolution, which always goes to the payer. Ignoring the key would pay the wrong person. */
function IsOnlyForCashout(): PropertyDecorator {
  return rule(
    'isOnlyForCashout',
    (_value, dto) => (dto as RefundDto).strategy !== 'devolution',
    'is for cashout refunds only; a devolution goes back to the payer',
  );
}

/** Body of `POST /v1/payments/{id}/refund`. */
export class RefundDto {
  @RequiredField({
    description:
      '8 to 128 printable ASCII characters, new for each intended refund. Kept for ever: repeating the request gives the original refund.',
    minLength: 8,
    maxLength: 128,
    example: 'refund-order-1042',
  })
  @IsIdempotencyKey(8)
  idempotencyKey!: string;

  @OptionalField({
    description: 'Smallest unit; at most what has not been refunded yet. Omitted: all of that.',
    type: 'integer',
    minimum: 1,
    maximum: MAX_AMOUNT,
    example: 990,
  })
  @IsAmount()
  amount?: number;

  @DescriptiveText('Shown with the refund; the payer does not see it.', 500, 'Article returned')
  reason?: string;

  @OptionalEnum(
    '`cashout` is a new Pix to the payer’s document, or to `destinationKey`; `devolution` sends the very Pix back by its end-to-end id. Omitted: `cashout` where the provider can and the payer is known, else `devolution`. Only for payments made with Pix.',
    REFUND_STRATEGIES,
    { example: 'cashout' },
  )
  strategy?: (typeof REFUND_STRATEGIES)[number];

  @OptionalField({
    description:
      'The account bears the fee of a cashout’s Pix-out: it is debited with the amount, and given back with it when the refund fails. A devolution has no such fee. Only for payments made with Pix.',
    default: false,
    example: false,
  })
  @IsBoolean({ message: 'must be true or false' })
  passFeeToTenant?: boolean;

  @OptionalField({
    description:
      'Pix key that a cashout goes to instead of the payer’s document: CPF, CNPJ, e-mail, phone (+55…) or random key. Not with `devolution`.',
    maxLength: 100,
    pattern: '^\\s*(\\+55[0-9 ().-]{10,}|[^@\\s]+@[^@\\s]+|[0-9A-Fa-f-]{36}|[0-9A-Za-z./\\s-]{11,40})\\s*$',
    example: 'maria@example.com',
  })
  @IsPixKey()
  @IsOnlyForCashout()
  destinationKey?: string;
}

export function toRefundOrder(dto: RefundDto): RefundOrder {
  return {
    amount: dto.amount ?? null,
    reason: dto.reason ?? null,
    strategy: dto.strategy ?? null,
    passFee: dto.passFeeToTenant ?? false,
    destinationKey: dto.destinationKey == null ? null : (normalizePixKey(dto.destinationKey)?.key ?? null),
  };
}
