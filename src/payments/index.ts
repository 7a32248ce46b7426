export { PaymentDetailBody, PaymentItemBody } from './dto/payment.body.js';
export { paymentItem } from './payment.serializer.js';
export { PaymentsModule } from './payments.module.js';
export { PaymentsService } from './payments.service.js';
export { PaymentRequestsService } from './payment-requests.service.js';
