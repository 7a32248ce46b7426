export { answerTokensOf, bodyBytesOf, bodyTokensOf, PARSED, ReadsBody, readBytes, valueTokensOf } from './body.js';
export { BodyInterceptor } from './body.interceptor.js';
export * from './cursor-list.js';
export { DAY_OR_INSTANT, firstInstantOf, IsDayOrInstant, lastInstantOf, QueryDate } from './dates.js';
export { ErrorFilter, sendError } from './error.filter.js';
export { ANSWERED, HttpAdapter } from './http-adapter.js';
export { escapeHtml, type Html, markup, trusted } from './html.js';
export { type Limited, limitedByAddress } from './limited-by-address.js';
export { Nested, UNKNOWN_FIELD } from './nested.decorator.js';
export * from './openapi.js';
export { isOwnPage } from './own-page.js';
export { PostOk } from './post-ok.js';
export * from './properties.js';
export { IsQueryInteger, QueryInteger } from './query-fields.js';
export { addressOf, isRead, routeOf } from './request.js';
export { RequestIdInterceptor, stampAnswer } from './request-id.interceptor.js';
export { DraftBody, ValidationPipe } from './validation.pipe.js';
export {
  depthOf,
  DescriptiveField,
  DescriptiveObject,
  DescriptiveText,
  IsAmount,
  IsEmailAddress,
  IsIdOf,
  IsMetadata,
  IsMetadataFilter,
  IsNullable,
  IsOneLine,
  IsText,
  OptionalEnum,
  OptionalField,
  OptionalText,
  ReadsIds,
  RequiredEnum,
  RequiredField,
  RequiredText,
  rule,
} from './validators.js';
