import type { Amount } from '../../core/money/index.js';
import type { NewEvent } from '../../outbox/index.js';
import type { Transaction } from '../../transactions/index.js';
import type { MedCaseBody } from '../desk/dto/med-case.body.js';
import { medCaseBody } from '../desk/med-case.serializer.js';
import type { MedCase } from './med-case.js';

/** The part of a disputed payment that a case's events carry. */
export type DisputedSale = Pick<Transaction, 'id' | 'amount' | 'metadata'>;

export interface MedEventData {
  readonly case: MedCaseBody;
  /**
   * Called `transaction`, so that its metadata are sealed like those of any transaction. Missing in events of an
   * earlier version.
   */
  readonly transaction?: DisputedSale;
  /** Amount of the payment that the case holds now; missing in events of an earlier version. */
  readonly heldAmount?: Amount;
  /** True if the account gets no webhook about the end of its cases (docs/contract.md#event-names). */
  readonly isMuted: boolean;
}

/** `data.resolution`: docs/contract.md#canonical-envelope. */
export interface Resolution {
  readonly money_outcome: MedCaseBody['money_outcome'];
  /**
   * The formerly held or corrected amount, now with its final owner; after a loss, the whole lost amount. Less than the
   * case's amount if refunds had taken a part.
   */
  readonly amount: Amount;
  readonly currency: string;
  readonly charge_id: string;
  readonly resolved_at: string;
}

export interface MedResolvedData extends MedEventData {
  readonly resolution: Resolution;
}

export interface MedCorrectedData extends MedResolvedData {
  /** Amount that the correction takes from the merchant; negative: given back. */
  readonly taken: Amount;
}

declare module '../../outbox/index.js' {
  interface DomainEvents {
    'med_case.opened': MedEventData;
    /** The case's status has changed. */
    'med_case.moved': MedEventData;
    'med_case.evidence_requested': MedEventData;
    'med_case.deadline_approaching': MedEventData;
    /** A separate event beside the last move: receivers deduplicate on the event's id. */
    'med_case.resolved': MedResolvedData;
    /** The money of a closed case has moved after all. */
    'med_case.corrected': MedCorrectedData;
  }
}

export const MED_EVENT_TYPES = [
  'med_case.opened',
  'med_case.moved',
  'med_case.evidence_requested',
  'med_case.deadline_approaching',
] as const;
export type MedEventType = (typeof MED_EVENT_TYPES)[number];

export function medEvent(
  type: MedEventType,
  medCase: MedCase,
  sale: DisputedSale,
  isMuted = false,
): NewEvent<MedEventType> {
  return { ...about(medCase), type, data: { ...toldOf(medCase, sale), isMuted } };
}

/** Returns the data that every event of a case carries. */
export function toldOf(
  medCase: MedCase,
  { id, amount, metadata }: DisputedSale,
): Pick<MedEventData, 'case' | 'transaction' | 'heldAmount'> {
  return { case: medCaseBody(medCase), transaction: { id, amount, metadata }, heldAmount: medCase.heldAmount };
}

/** @param amount formerly held */
export function resolvedEvent(
  medCase: MedCase,
  sale: DisputedSale,
  amount: Amount,
  isMuted: boolean,
): NewEvent<'med_case.resolved'> {
  return { ...about(medCase), type: 'med_case.resolved', data: resolvedData(medCase, sale, amount, isMuted) };
}

/** @param taken from the merchant by the correction; negative: given back */
export function correctedEvent(
  medCase: MedCase,
  sale: DisputedSale,
  taken: Amount,
  isMuted: boolean,
): NewEvent<'med_case.corrected'> {
  const amount = medCase.moneyOutcome === 'refunded_to_merchant' ? -taken : medCase.lostAmount;
  const data = { ...resolvedData(medCase, sale, amount, isMuted), taken };
  return { ...about(medCase), type: 'med_case.corrected', data };
}

function resolvedData(medCase: MedCase, sale: DisputedSale, amount: Amount, isMuted: boolean): MedResolvedData {
  const told = toldOf(medCase, sale);
  const { money_outcome, currency, charge_id, closed_at, updated_at } = told.case;
  const resolution = { money_outcome, amount, currency, charge_id, resolved_at: closed_at ?? updated_at };
  return { ...told, isMuted, resolution };
}

function about({ accountId, mode, id, updatedAt }: MedCase): Omit<NewEvent, 'type' | 'data'> {
  return { accountId, mode, subjectId: id, occurredAt: updatedAt };
}
