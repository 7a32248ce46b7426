import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, Matches, ValidateIf } from 'class-validator';
import { DISPUTE_METHODS, type DisputeMethod } from '../../acquirers/index.js';
import { IsTaxId } from '../../charges/index.js';
import {
  DAY_OR_INSTANT,
  DescriptiveText,
  IsAmount,
  IsDayOrInstant,
  IsNullable,
  OptionalField,
  RequiredEnum,
  TAX_ID_FORM,
  rule,
} from '../../core/http/index.js';
import { PAYMENT_METHODS, type PaymentMethod } from '../../transactions/index.js';

export const SANDBOX_EVENTS = [
  ...(['pay', 'expire', 'fail', 'refund_fail', 'processing'] as const),
  ...(['chargeback', 'dispute', 'fraud', 'med_open', 'med_rule', 'med_withdraw'] as const),
] as const;
type SandboxEvent = (typeof SANDBOX_EVENTS)[number];

/** The allowed values of `method` depend on the event: a payment method, or the harm that the payer reports. */
function methodsFor(event: unknown): readonly string[] {
  return event === 'med_open' ? DISPUTE_METHODS : PAYMENT_METHODS;
}

function IsMethodOfEvent(): PropertyDecorator {
  return rule(
    'isMethodOfEvent',
    (value, dto) => methodsFor((dto as SimulateDto).event).includes(value as string),
    (_value, dto) => `must be one of ${methodsFor((dto as SimulateDto).event).join(', ')}`,
  );
}

export class SimulateDto {
  @RequiredEnum(
    'What happens at the sandbox bank. `processing`: the payer of a card is being authenticated; `chargeback`, `dispute` and `fraud`: of a card that was paid. `refund_fail`: the next refund ends FAILED. `med_open`: the payer’s bank opens a MED on a Pix; `med_rule` and `med_withdraw`: the dispute that has waited longest, of a Pix or a card, is ruled or withdrawn.',
    SANDBOX_EVENTS,
    { example: 'pay' },
  )
  event!: SandboxEvent;

  @OptionalField({
    description:
      '`pay`: one of the payment’s methods; default: its first. `med_open`: how the payer was harmed; default `scam`.',
    enum: [...PAYMENT_METHODS, ...DISPUTE_METHODS],
    example: 'PIX',
  })
  @IsMethodOfEvent()
  method?: PaymentMethod | DisputeMethod;

  @ApiPropertyOptional({
    description:
      '`pay`: CPF or CNPJ of the payer; null when the bank does not report it. Default: the customer’s document, or a fixed valid CPF. `med_open`: of who opened it; default: nobody is named.',
    ...TAX_ID_FORM,
    nullable: true,
    example: '52998224725',
  })
  @IsNullable()
  @IsTaxId()
  payer_document?: string | null;

  @DescriptiveText(
    '`pay`: name of the payer; default: the customer’s. `med_open`: of who opened it; default: nobody is named.',
    200,
    'Maria da Silva',
  )
  payer_name?: string;

  @OptionalField({
    description:
      '`pay`: cents; default: exactly what is asked for. `med_open`: what is disputed; default: what was paid.',
    type: 'integer',
    minimum: 1,
    example: 1990,
  })
  @IsAmount()
  amount?: number;

  @OptionalField({
    description:
      '`pay`: id of the Pix, E and 31 more with its minute in UTC, or 1 to 64 letters and digits of a payment by another method; the same one again changes nothing. Default: a new one.',
    minLength: 1,
    maxLength: 64,
    pattern: '^[A-Za-z0-9]{1,64}$',
    example: 'E00000000202611211530abcDEF12345',
  })
  @Matches(/^[A-Za-z0-9]{1,64}$/, { message: 'must have 1 to 64 letters and digits (of a Pix: E and 31 more)' })
  end_to_end_id?: string;

  @DescriptiveText('`med_open`: what the payer claims.', 500, 'I did not make this payment.')
  reason?: string;

  @ApiPropertyOptional({
    description:
      '`med_open`: until when the merchant may answer, an instant with its zone or the end of a day in São Paulo; null when the bank does not say. Default: in seven days.',
    anyOf: DAY_OR_INSTANT.anyOf.map((form) => ({ ...form, nullable: true })),
    example: '2026-11-28T12:00:00Z',
  })
  @IsNullable()
  @IsDayOrInstant()
  response_deadline?: string | null;

  @ApiPropertyOptional({
    description: '`med_rule`, required: `agreed` is lost for the merchant, `disagreed` is won.',
    enum: ['agreed', 'disagreed'],
    example: 'disagreed',
  })
  @ValidateIf(({ event, result }: SimulateDto) => event === 'med_rule' || result !== undefined)
  @IsIn(['agreed', 'disagreed'], { message: 'must be agreed or disagreed' })
  result?: 'agreed' | 'disagreed';
}
