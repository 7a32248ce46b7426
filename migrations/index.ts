import { Corrections1700000009800 } from './1700000009800-corrections.js';
import { OperatorQueues1700000009810 } from './1700000009810-operator-queues.js';
import { NegativeBalances1700000009820 } from './1700000009820-negative-balances.js';
import { ProviderFees1700000009830 } from './1700000009830-provider-fees.js';
import { CreditsAndDays1700000009825 } from './1700000009825-credits-and-days.js';
import { Reserves1700000009840 } from './1700000009840-reserves.js';
import { FilteredLists1700000009850 } from './1700000009850-filtered-lists.js';
import { WordsOfASearch1700000009860 } from './1700000009860-words-of-a-search.js';
import { ChecksByIndex1700000009870 } from './1700000009870-checks-by-index.js';
import { BalanceCheckpoints1700000009880 } from './1700000009880-balance-checkpoints.js';
import { TxidsOfHints1700000009890 } from './1700000009890-txids-of-hints.js';
import { FirstQuestions1700000009900 } from './1700000009900-first-questions.js';
import { RefusedReturns1700000009910 } from './1700000009910-refused-returns.js';
import { OneBook1700000009920 } from './1700000009920-one-book.js';
import { TxidsInAnyCase1700000009921 } from './1700000009921-txids-in-any-case.js';
import { KeptRequests1700000009940 } from './1700000009940-kept-requests.js';
import { LinesOfHints1700000009941 } from './1700000009941-lines-of-hints.js';
import { EncryptionKeys1700000009960 } from './1700000009960-encryption-keys.js';
import { DisputeReporters1700000009970 } from './1700000009970-dispute-reporters.js';
import { WordsOfOneLetter1700000009971 } from './1700000009971-words-of-one-letter.js';
import { LossesOfASale1700000009990 } from './1700000009990-losses-of-a-sale.js';
import { Initial1700000000000 } from './1700000000000-initial.js';
import { WebhookManagement1700000001000 } from './1700000001000-webhook-management.js';
import { MembersAndAudit1700000002000 } from './1700000002000-members-and-audit.js';
import { RequestLogsAndFraud1700000002500 } from './1700000002500-request-logs-and-fraud.js';
import { Payments1700000003000 } from './1700000003000-payments.js';
import { Refunds1700000003500 } from './1700000003500-refunds.js';
import { DailyFigures1700000004000 } from './1700000004000-daily-figures.js';
import { SandboxAccounts1700000004500 } from './1700000004500-sandbox-accounts.js';
import { EndedSessions1700000004600 } from './1700000004600-ended-sessions.js';
import { MedCases1700000005000 } from './1700000005000-med-cases.js';
import { MedEvidence1700000005500 } from './1700000005500-med-evidence.js';
import { MedPayersAndWaiting1700000005700 } from './1700000005700-med-payers-and-waiting.js';
import { AcquirerConnections1700000006000 } from './1700000006000-acquirer-connections.js';
import { AcquirerCallbacks1700000006500 } from './1700000006500-acquirer-callbacks.js';
import { LatePix1700000006700 } from './1700000006700-late-pix.js';
import { WebhookMessages1700000007000 } from './1700000007000-webhook-messages.js';
import { LedgerKeeps1700000007100 } from './1700000007100-ledger-keeps.js';
import { PutOffReleases1700000007110 } from './1700000007110-put-off-releases.js';
import { EndedMail1700000007120 } from './1700000007120-ended-mail.js';
import { UnreadableNews1700000007130 } from './1700000007130-unreadable-news.js';
import { ExactSums1700000007140 } from './1700000007140-exact-sums.js';
import { ReturnsOfASale1700000007300 } from './1700000007300-returns-of-a-sale.js';
import { ReturnsUntilNow1700000007310 } from './1700000007310-returns-until-now.js';
import { Work1700000008000 } from './1700000008000-work.js';
import { Retention1700000009000 } from './1700000009000-retention.js';
import { CallbacksAtOnce1700000009100 } from './1700000009100-callbacks-at-once.js';
import { CallbackHearsay1700000009200 } from './1700000009200-callback-hearsay.js';
import { Sessions1700000009300 } from './1700000009300-sessions.js';
import { InvitationsByMail1700000009310 } from './1700000009310-invitations-by-mail.js';
import { SecondFactor1700000009320 } from './1700000009320-second-factor.js';
import { ServiceRole1700000009400 } from './1700000009400-service-role.js';
import { KeysAndSuspension1700000009500 } from './1700000009500-keys-and-suspension.js';
import { EvidenceQuota1700000009510 } from './1700000009510-evidence-quota.js';
import { PayerReceipts1700000009520 } from './1700000009520-payer-receipts.js';
import { SealedEventCustomers1700000009600 } from './1700000009600-sealed-event-customers.js';
import { PermanentKeys1700000009610 } from './1700000009610-permanent-keys.js';
import { Search1700000009630 } from './1700000009630-search.js';
import { RefundsList1700000009640 } from './1700000009640-refunds-list.js';
import { SettledFigures1700000009650 } from './1700000009650-settled-figures.js';
import { Reports1700000009710 } from './1700000009710-reports.js';
import { Brands1700000009717 } from './1700000009717-brands.js';
import { TwentyTerms1700000009720 } from './1700000009720-twenty-terms.js';
import { BankReferences1700000009740 } from './1700000009740-bank-references.js';
import { Cashouts1700000009750 } from './1700000009750-cashouts.js';
import { RulesOfMoney1700000009760 } from './1700000009760-rules-of-money.js';
import { TestMails1700000009770 } from './1700000009770-test-mails.js';
import { TrimmedKeys1700000009780 } from './1700000009780-trimmed-keys.js';
import { Suspense1700000009790 } from './1700000009790-suspense.js';
import { StricterRules1700000009795 } from './1700000009795-stricter-rules.js';
import { EventPositions1700000009730 } from './1700000009730-event-positions.js';
import { Inviters1700000009716 } from './1700000009716-inviters.js';
import { MetadataAsSent1700000009995 } from './1700000009995-metadata-as-sent.js';
import { MetadataTerms1700000009715 } from './1700000009715-metadata-terms.js';
import { WalletStatement1700000009700 } from './1700000009700-wallet-statement.js';

/** In the order in which they are applied. */
export const MIGRATIONS = [
  Initial1700000000000,
  WebhookManagement1700000001000,
  MembersAndAudit1700000002000,
  RequestLogsAndFraud1700000002500,
  Payments1700000003000,
  Refunds1700000003500,
  DailyFigures1700000004000,
  SandboxAccounts1700000004500,
  EndedSessions1700000004600,
  MedCases1700000005000,
  MedEvidence1700000005500,
  MedPayersAndWaiting1700000005700,
  AcquirerConnections1700000006000,
  AcquirerCallbacks1700000006500,
  LatePix1700000006700,
  WebhookMessages1700000007000,
  LedgerKeeps1700000007100,
  PutOffReleases1700000007110,
  EndedMail1700000007120,
  UnreadableNews1700000007130,
  ExactSums1700000007140,
  ReturnsOfASale1700000007300,
  ReturnsUntilNow1700000007310,
  Work1700000008000,
  Retention1700000009000,
  CallbacksAtOnce1700000009100,
  CallbackHearsay1700000009200,
  Sessions1700000009300,
  InvitationsByMail1700000009310,
  SecondFactor1700000009320,
  ServiceRole1700000009400,
  KeysAndSuspension1700000009500,
  EvidenceQuota1700000009510,
  PayerReceipts1700000009520,
  SealedEventCustomers1700000009600,
  PermanentKeys1700000009610,
  Search1700000009630,
  RefundsList1700000009640,
  SettledFigures1700000009650,
  WalletStatement1700000009700,
  Reports1700000009710,
  MetadataTerms1700000009715,
  Inviters1700000009716,
  Brands1700000009717,
  TwentyTerms1700000009720,
  EventPositions1700000009730,
  BankReferences1700000009740,
  Cashouts1700000009750,
  RulesOfMoney1700000009760,
  TestMails1700000009770,
  TrimmedKeys1700000009780,
  Suspense1700000009790,
  StricterRules1700000009795,
  Corrections1700000009800,
  OperatorQueues1700000009810,
  NegativeBalances1700000009820,
  CreditsAndDays1700000009825,
  ProviderFees1700000009830,
  Reserves1700000009840,
  FilteredLists1700000009850,
  WordsOfASearch1700000009860,
  ChecksByIndex1700000009870,
  BalanceCheckpoints1700000009880,
  TxidsOfHints1700000009890,
  FirstQuestions1700000009900,
  RefusedReturns1700000009910,
  OneBook1700000009920,
  TxidsInAnyCase1700000009921,
  KeptRequests1700000009940,
  LinesOfHints1700000009941,
  EncryptionKeys1700000009960,
  DisputeReporters1700000009970,
  WordsOfOneLetter1700000009971,
  LossesOfASale1700000009990,
  MetadataAsSent1700000009995,
];
