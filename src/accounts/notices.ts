import type { MemberEntity, Role } from './member.entity.js';

/** Things that happen in an account, of which each person chooses to be told. */
export const NOTICES = ['paid', 'dispute', 'webhook', 'payout', 'approval'] as const;
export type Notice = (typeof NOTICES)[number];

/** Notices that are sent by mail. Paid sales are shown in the dashboard only. */
export const MAIL_NOTICES = ['dispute', 'webhook', 'payout', 'approval'] as const;
export type MailNotice = (typeof MAIL_NOTICES)[number];

/** The account's contact gets mails about disputes and webhooks anyway. */
const MAIL_DEFAULTS: Readonly<Record<Role, readonly MailNotice[]>> = {
  OWNER: ['payout', 'approval'],
  ADMIN: ['approval'],
  MEMBER: [],
};
const DASHBOARD_DEFAULTS: readonly Notice[] = ['dispute', 'webhook', 'payout', 'approval'];

export interface ChosenNotices {
  readonly mail: readonly MailNotice[];
  readonly dashboard: readonly Notice[];
}

/** Returns the notices that the member has chosen, or the defaults of the role. */
export function noticesOf({
  role,
  noticeMails,
  noticeToasts,
}: Pick<MemberEntity, 'role' | 'noticeMails' | 'noticeToasts'>): ChosenNotices {
  return { mail: noticeMails ?? MAIL_DEFAULTS[role], dashboard: noticeToasts ?? DASHBOARD_DEFAULTS };
}
