import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EnumOf, Integer, NullableInteger, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import {
  PAYMENT_METHODS,
  SHOWN_RETURNS,
  TRANSACTION_STATUSES,
  type TransactionStatus,
} from '../../transactions/index.js';

const LATER = '2026-11-21T13:00:00.000Z';

abstract class PaymentFields {
  @EnumOf('Transaction status.', TRANSACTION_STATUSES) status!: TransactionStatus;
  @Integer('Smallest unit.', 1990) amount!: number;
  @Text('Currency code.', 'BRL') currency!: string;
  @ApiProperty({ description: 'How it may be paid.', enum: PAYMENT_METHODS, isArray: true }) paymentMethods!: string[];
  @NullableText('As supplied.', 'Maria da Silva') customerName!: string | null;
  @NullableText('As supplied; a CPF or CNPJ bare.', '52998224725') customerDocument!: string | null;
  @NullableText('As supplied.', 'maria@example.com') customerEmail!: string | null;
  @ApiProperty({ description: 'As supplied.', type: 'object', additionalProperties: true })
  metadata!: Record<string, unknown>;
  @Time('UTC.') createdAt!: string;
}

export class PaymentReturnBody {
  @Integer('Cents.', 1990) amount!: number;
  @EnumOf('Why it did not pay the payment.', SHOWN_RETURNS) reason!: string;
  @Text('Of the Pix.', 'E00000000202611211530abcDEF12345') endToEndId!: string;
  @Time('When it had gone back, UTC.', '2026-11-21T13:00:00.000Z') at!: string;
}

abstract class SettledPaymentFields extends PaymentFields {
  @ApiProperty({ description: 'Method actually used.', type: String, enum: [...PAYMENT_METHODS, null], nullable: true })
  paidWith!: string | null;
  @NullableInteger('What the acquirer kept.', 5) providerFee!: number | null;
  @NullableInteger('What the service kept.', 40) platformFee!: number | null;
  @NullableInteger('amount − providerFee − platformFee.', 1945) netAmount!: number | null;
  @NullableTime('When it was paid.', LATER) paidAt!: string | null;
  @ApiPropertyOptional({
    description: 'The sum of its refunds that have not failed. Only when there is one.',
    type: 'integer',
    example: 990,
  })
  amountRefunded?: number;
  @ApiPropertyOptional({
    description:
      'Late, double or wrong-amount Pix that were sent back to their payers. Only when there is one, and once its bank has accepted it.',
    type: [PaymentReturnBody],
  })
  returns?: PaymentReturnBody[];
}

/** Answer to creating a payment. */
export class PaymentBody extends PaymentFields {
  @ApiProperty({ description: 'Of the payment.', format: 'uuid', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' })
  id!: string;
}

/** Source: docs/contract.md#payment-list. */
export class PaymentItemBody extends SettledPaymentFields {
  @Text('`tx_<uuid>`.', 'tx_019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12') id!: string;
}

/** Fields are null if they do not apply to the payment's methods, or do not exist yet. */
export class PaymentDetailBody extends SettledPaymentFields {
  @ApiProperty({ description: 'Of the payment.', format: 'uuid', example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12' })
  id!: string;
  @NullableText('PIX: PNG of the QR code as a data URL.', 'data:image/png;base64,iVBORw0KGgo=') pixQrCode!:
    string | null;
  @NullableText('PIX: the EMV copy-and-paste payload.', '00020126…63040DED') pixCopyPaste!: string | null;
  @NullableTime('PIX: until then it can be paid.', LATER) pixExpiresAt!: string | null;
  @NullableText(
    'CREDIT_CARD: page to send the payer to.',
    'https://pay.example.com/sandbox/cards/7d9f0335b1d24c9f8a6e5c3b2a',
  )
  cardRedirectUrl!: string | null;
  @NullableText('MULTIBANCO: 5 digits.', '99999') mbEntity!: string | null;
  @NullableText('MULTIBANCO: 9 digits, the last two check the others, the entity and the amount.', '123456742')
  mbReference!: string | null;
  @NullableTime('MULTIBANCO: until then it can be paid.', LATER) mbExpiresAt!: string | null;
  @NullableText('BOLETO: the 44 digits of the bar code.', '99991164000000019900123456789012345678901234')
  boletoBarcode!: string | null;
  @NullableText('BOLETO: the 47 digits of the line to type.', '99990123455678901234856789012346116400000001990')
  boletoLine!: string | null;
  @NullableText(
    'BOLETO: the sheet as a PDF.',
    'https://pay.example.com/sandbox/boletos/7d9f0335b1d24c9f8a6e5c3b2a/boleto.pdf',
  )
  boletoPdfUrl!: string | null;
  @NullableTime('BOLETO: the end of the day on which it is due.', LATER) boletoExpiresAt!: string | null;
  @NullableText('CRYPTO: where to send it.', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx') cryptoAddress!:
    string | null;
  @ApiProperty({
    description: 'CRYPTO: how much, in units of `cryptoCurrency`.',
    type: Number,
    nullable: true,
    example: 3.62,
  })
  cryptoAmount!: number | null;
  @NullableText('CRYPTO: on which network.', 'TRON_TESTNET') cryptoNetwork!: string | null;
  @NullableText('CRYPTO: of what.', 'USDT') cryptoCurrency!: string | null;
}

export class CancelledPaymentBody extends PaymentDetailBody {
  @EnumOf('Status before it was cancelled.', TRANSACTION_STATUSES) previousStatus!: TransactionStatus;
}

export class PaymentListBody {
  @ApiProperty({ description: 'The page.', type: [PaymentItemBody] }) data!: PaymentItemBody[];
  @Integer('How many the filters leave.', 1) total!: number;
  @Integer('As asked for.', 1) page!: number;
  @Integer('As asked for.', 20) limit!: number;
}

export class ProviderStatusBody {
  @EnumOf('Transaction status here.', TRANSACTION_STATUSES) localStatus!: TransactionStatus;
  @NullableText('Name of the acquirer; null when it was never told of the payment.', 'sandbox') provider!:
    string | null;
  @NullableText('What the acquirer knows it by.', '7d9f0335b1d24c9f8a6e5c3b2a') providerTransactionId!: string | null;
  @NullableText('In the acquirer’s words.', 'ACTIVE') providerStatus!: string | null;
  @ApiProperty({ description: 'The acquirer’s answer.', type: 'object', additionalProperties: true })
  rawResponse!: Record<string, unknown>;
  @ApiPropertyOptional({
    description: 'Only when the acquirer knows nothing of the payment.',
    enum: ['TRANSACTION_HAS_NO_PROVIDER_REFERENCE'],
  })
  error?: 'TRANSACTION_HAS_NO_PROVIDER_REFERENCE';
}

export class ReceiptBody {
  @EnumOf('Media type.', ['application/pdf']) contentType!: 'application/pdf';
  @Text('The document.', 'JVBERi0xLjMK') base64!: string;
}
