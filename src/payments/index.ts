export { PaymentDetailSchema } from './dto/payment.body.js';
export type { PaymentDetailBody } from './payment.serializer.js';
export { PaymentsModule } from './payments.module.js';
export { PaymentsService } from './payments.service.js';
