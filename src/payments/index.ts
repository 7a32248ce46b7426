export { PaymentDetailBody } from './dto/payment.body.js';
export { PaymentsModule } from './payments.module.js';
export { PaymentsService } from './payments.service.js';
export { PaymentRequestsService } from './payment-requests.service.js';
