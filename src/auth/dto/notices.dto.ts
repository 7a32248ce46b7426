import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ArrayUnique, IsArray, IsIn } from 'class-validator';
import { DASHBOARD_NOTICES, type DashboardNotice, MAIL_NOTICES, type MailNotice } from '../../accounts/index.js';
import { DAY_OR_INSTANT, IsDayOrInstant, OptionalField, Time } from '../../core/http/index.js';

const MAIL = 'Notices that are mailed to you. `approval` is mailed only to people who may approve: OWNER and ADMIN.';
const DASHBOARD =
  'Notices that the dashboard lists, and shows as they happen. `webhook`: an endpoint that fails, which is listed only.';
const READ = 'You have read the notices of that mode up to this time: at first, the time at which you joined.';

export class NoticesBody {
  @ApiProperty({ description: MAIL, enum: MAIL_NOTICES, isArray: true, example: ['payout', 'approval'] })
  mail!: MailNotice[];
  @ApiProperty({ description: DASHBOARD, enum: DASHBOARD_NOTICES, isArray: true, example: ['paid', 'dispute'] })
  dashboard!: DashboardNotice[];
  @Time(READ) read_live!: string;
  @Time(READ) read_test!: string;
}

function noticeList(description: string, notices: readonly string[]): PropertyDecorator {
  const each = { each: true, message: `must be a list of ${notices.join(', ')}` };
  return (target, key) => {
    OptionalField({
      description,
      type: 'array',
      items: { type: 'string', enum: [...notices] },
      uniqueItems: true,
      example: ['dispute'],
    })(target, key);
    IsArray({ message: each.message })(target, key);
    ArrayUnique({ message: 'must not have an entry twice' })(target, key);
    IsIn(notices, each)(target, key);
  };
}

function readUntil(): PropertyDecorator {
  const description = 'You have read the notices of that mode up to this time. It never goes back.';
  return applyDecorators(OptionalField({ description, ...DAY_OR_INSTANT, type: String }), IsDayOrInstant());
}

/** Body of `PATCH /v1/auth/notices`. */
export class ChangeNoticesDto {
  @noticeList(MAIL, MAIL_NOTICES)
  mail?: MailNotice[];

  @noticeList(DASHBOARD, DASHBOARD_NOTICES)
  dashboard?: DashboardNotice[];

  @readUntil() read_live?: string;
  @readUntil() read_test?: string;
}
