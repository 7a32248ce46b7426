import type { Mode } from '../core/mode.js';
import type { Role } from './role.js';

/** Notices that the dashboard lists, and shows as they happen. */
export const DASHBOARD_NOTICES = ['paid', 'dispute', 'webhook', 'payout', 'approval'] as const;
export type DashboardNotice = (typeof DASHBOARD_NOTICES)[number];

/** Notices that are sent by mail. */
export const MAIL_NOTICES = ['paid', 'dispute', 'webhook', 'payout', 'approval'] as const;
export type MailNotice = (typeof MAIL_NOTICES)[number];

/** The account's contact gets mails about disputes and webhooks anyway. */
const MAIL_DEFAULTS: Readonly<Record<Role, readonly MailNotice[]>> = {
  OWNER: ['payout', 'approval'],
  ADMIN: ['approval'],
  MEMBER: [],
};
const DASHBOARD_DEFAULTS: readonly DashboardNotice[] = ['dispute', 'webhook', 'payout', 'approval'];

export interface ChosenNotices {
  readonly mail: readonly MailNotice[];
  readonly dashboard: readonly DashboardNotice[];
}

/** The times up to which a person has read the notices of each mode. */
export type ReadNotices = Readonly<Record<Mode, Date>>;

interface Choice {
  readonly role: Role;
  readonly noticeMails: readonly MailNotice[] | null;
  readonly noticeToasts: readonly DashboardNotice[] | null;
}

/** Returns the notices that the member has chosen, or the defaults of the role. */
export function noticesOf({ role, noticeMails, noticeToasts }: Choice): ChosenNotices {
  return { mail: noticeMails ?? MAIL_DEFAULTS[role], dashboard: noticeToasts ?? DASHBOARD_DEFAULTS };
}
