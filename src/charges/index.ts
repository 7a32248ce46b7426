export { chargeBody } from './charge.serializer.js';
export { PUBLIC_STATUSES, type PublicStatus, publicStatus } from './charge-status.js';
export { ChargesModule } from './charges.module.js';
export { ChargesService } from './charges.service.js';
export { ChargeBody } from './dto/charge.body.js';
export { IsTaxId } from './dto/validators.js';
