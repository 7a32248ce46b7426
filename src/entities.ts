import { AccountEntity, MemberEntity, UserEntity } from './accounts/index.js';
import {
  AcquirerNotificationEntity,
  SandboxChargeEntity,
  SandboxPixEntity,
  SandboxReturnEntity,
} from './acquirers/index.js';
import { ApiKeyEntity } from './api-keys/index.js';
import { IdempotencyKeyEntity } from './core/idempotency/index.js';
import { EmailEntity } from './core/mail/index.js';
import { EventEntity } from './outbox/index.js';
import { PixReturnEntity, SettlementEntity, TransactionEntity } from './transactions/index.js';
import { BalanceEntity, JournalEntryEntity, JournalLineEntity, ReleaseEntity } from './wallets/index.js';
import {
  WebhookAttemptEntity,
  WebhookDefaultSecretEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
} from './webhooks/index.js';

/** Every table as an entity: a test holds them against the migrations. */
export const ENTITIES = [
  AccountEntity,
  AcquirerNotificationEntity,
  ApiKeyEntity,
  BalanceEntity,
  EmailEntity,
  EventEntity,
  IdempotencyKeyEntity,
  JournalEntryEntity,
  JournalLineEntity,
  MemberEntity,
  PixReturnEntity,
  ReleaseEntity,
  SandboxChargeEntity,
  SandboxPixEntity,
  SandboxReturnEntity,
  SettlementEntity,
  TransactionEntity,
  UserEntity,
  WebhookAttemptEntity,
  WebhookDefaultSecretEntity,
  WebhookDeliveryEntity,
  WebhookEndpointEntity,
];
