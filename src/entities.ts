import {
  AccountEntity,
  InvitationEntity,
  MemberEntity,
  PasswordResetEntity,
  SessionEntity,
  UserEntity,
} from './accounts/index.js';
import {
  AcquirerCallbackEntity,
  AcquirerConnectionEntity,
  AcquirerFeeEntity,
  AcquirerNotificationEntity,
  SandboxChargeEntity,
  SandboxDisputeEntity,
  SandboxOrderEventEntity,
  SandboxPixEntity,
  SandboxRefundFailureEntity,
  SandboxReturnEntity,
} from './acquirers/index.js';
import { ApiKeyEntity } from './api-keys/index.js';
import { AuditEventEntity } from './audit/index.js';
import { LoginFailureEntity } from './auth/index.js';
import { IdempotencyKeyEntity } from './core/idempotency/index.js';
import { EmailEntity } from './core/mail/index.js';
import { WorkEntity } from './core/work/index.js';
import { FraudHitEntity } from './fraud/index.js';
import { MedCaseEntity, MedEvidenceEntity } from './med/index.js';
import { OperatorAlertEntity } from './operations/index.js';
import { EventEntity } from './outbox/index.js';
import { AcquirerStatementEntity } from './reconciliation/index.js';
import { ReportEntity } from './reports/index.js';
import { RequestLogEntity } from './request-logs/index.js';
import {
  CorrectionEntity,
  PixReturnEntity,
  RefundEntity,
  SettlementEntity,
  TransactionChangeEntity,
  TransactionEntity,
  TransactionFigureEntity,
} from './transactions/index.js';
import {
  BalanceEntity,
  JournalEntryEntity,
  JournalHashEntity,
  JournalLineEntity,
  ReleaseEntity,
} from './wallets/index.js';
import {
  WebhookAttemptEntity,
  WebhookDefaultSecretEntity,
  WebhookDeliveryEntity,
  WebhookMessageEntity,
  WebhookEndpointEntity,
} from './webhooks/index.js';

/** Every table as an entity: a test holds them against the migrations. */
export const ENTITIES = [
  AccountEntity,
  AcquirerCallbackEntity,
  AcquirerConnectionEntity,
  AcquirerFeeEntity,
  AcquirerNotificationEntity,
  AcquirerStatementEntity,
  ApiKeyEntity,
  AuditEventEntity,
  BalanceEntity,
  CorrectionEntity,
  EmailEntity,
  EventEntity,
  FraudHitEntity,
  IdempotencyKeyEntity,
  InvitationEntity,
  JournalEntryEntity,
  JournalHashEntity,
  JournalLineEntity,
  MedCaseEntity,
  MedEvidenceEntity,
  MemberEntity,
  OperatorAlertEntity,
  PixReturnEntity,
  RefundEntity,
  ReleaseEntity,
  ReportEntity,
  RequestLogEntity,
  LoginFailureEntity,
  PasswordResetEntity,
  SessionEntity,
  SandboxChargeEntity,
  SandboxDisputeEntity,
  SandboxOrderEventEntity,
  SandboxPixEntity,
  SandboxRefundFailureEntity,
  SandboxReturnEntity,
  SettlementEntity,
  TransactionChangeEntity,
  TransactionEntity,
  TransactionFigureEntity,
  UserEntity,
  WebhookAttemptEntity,
  WebhookDefaultSecretEntity,
  WebhookDeliveryEntity,
  WebhookMessageEntity,
  WebhookEndpointEntity,
  WorkEntity,
];
