export { type ClosedReason, LINK_STATUSES, linkStatusSql } from './payment-link.js';
export type { Askable, PaymentLink } from './payment-link.entity.js';
export { type Answers, PaymentLinkVisits, type VisitedLink } from './payment-link-visits.service.js';
export { PaymentLinksModule } from './payment-links.module.js';
