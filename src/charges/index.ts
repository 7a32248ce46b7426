export { chargeBody } from './charge.serializer.js';
export { PUBLIC_STATUSES, type PublicStatus, publicStatus } from './charge-status.js';
export { ChargesModule } from './charges.module.js';
export { chargeMetadata, ChargesService } from './charges.service.js';
export { ChargeBody } from './dto/charge.body.js';
export { CustomerDto } from './dto/create-charge.dto.js';
export { IsTaxId } from './dto/validators.js';
