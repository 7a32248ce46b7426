import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Tx } from '../../core/database/index.js';
import { type DomainEvent, EventCatalog } from '../../outbox/index.js';
import { type DisputeCase, DisputesService } from '../../transactions/index.js';
import { MedCaseBody } from '../desk/dto/med-case.body.js';
import { MedDataBody, MedResolvedDataBody } from '../desk/dto/med-event.body.js';
import { medCaseBody } from '../desk/med-case.serializer.js';
import { medCaseId } from './med-case-id.js';
import { sampleDisputedEvent, sampleMedEvent, sampleResolvedEvent } from './med-case.sample.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { MED_EVENT_TYPES, type MedEventData, type MedEventType, toldOf } from './med.events.js';

const UPDATED = 'A MED case changed its status, or evidence was requested.';

const EVENTS: readonly { name: string; from: MedEventType; description: string }[] = [
  { name: 'med_case.created', from: 'med_case.opened', description: 'A MED case was opened.' },
  { name: 'med_case.updated', from: 'med_case.moved', description: UPDATED },
  { name: 'med_case.updated', from: 'med_case.evidence_requested', description: UPDATED },
  {
    name: 'med_case.deadline_approaching',
    from: 'med_case.deadline_approaching',
    description: 'The response deadline of an open MED case is 48, 24 or 6 hours away.',
  },
];

/** Events about the end of a case, and about a later correction of it. */
const RESOLVED = ['med_case.resolved', 'med_case.corrected'] as const;

/** Events of a charge that carry the case that disputes it. */
const DISPUTED = ['transaction.card_disputed', 'transaction.charged_back'] as const;

/** Returns the keys beside the case, whose own keys are the contract's. */
function beside({ case: medCase, transaction, heldAmount }: MedEventData): Readonly<Record<string, unknown>> {
  if (!transaction) return {};
  const { id, amount, metadata } = transaction;
  return {
    charge: { id: `ch_${id}`, amount, metadata },
    held_amount: heldAmount,
    response_deadline: medCase.response_deadline,
  };
}

/** Source: docs/contract.md#event-names. */
@Injectable()
export class MedPublicEvents implements OnModuleInit {
  constructor(
    private readonly catalog: EventCatalog,
    private readonly cases: MedCasesRepository,
    private readonly disputes: DisputesService,
  ) {}

  onModuleInit(): void {
    for (const event of EVENTS) {
      this.catalog.register({
        ...event,
        family: 'canonical',
        body: MedCaseBody,
        besideBody: MedDataBody,
        present: ({ data }) => (data.isMuted ? null : data.case),
        beside: ({ data }) => beside(data),
      });
    }
    for (const from of RESOLVED) {
      this.catalog.register({
        name: 'med.resolved',
        from,
        family: 'canonical',
        description: 'The money of a MED case has its final destination.',
        body: MedCaseBody,
        besideBody: MedResolvedDataBody,
        present: ({ data }) => (data.isMuted ? null : data.case),
        beside: ({ data }) => ({ ...beside(data), resolution: data.resolution }),
      });
    }
    this.catalog.registerSample(MED_EVENT_TYPES, sampleMedEvent);
    this.catalog.registerSample(['med_case.resolved'], sampleResolvedEvent);
    this.catalog.registerSample(['transaction.card_disputed'], sampleDisputedEvent);
    this.catalog.registerRefresh([...MED_EVENT_TYPES, ...RESOLVED], (tx, events) => this.#refresh(tx, events));
    this.catalog.registerRefresh(DISPUTED, (tx, events) => this.#refreshDisputed(tx, events));
  }

  /** Refreshes the case in events, but keeps its resolution, which reports money that has moved. */
  async #refresh<T extends MedEventType | (typeof RESOLVED)[number]>(
    tx: Tx,
    events: readonly DomainEvent<T>[],
  ): Promise<DomainEvent<T>[]> {
    const found = await this.cases.findAll(
      tx,
      events.map(({ subjectId }) => subjectId),
    );
    const sales = await this.disputes.transactionsOf(
      tx,
      found.map(({ transactionId }) => transactionId),
    );
    const caseOf = new Map(found.map((medCase) => [medCase.id, medCase]));
    const saleOf = new Map(sales.map((sale) => [sale.id, sale]));
    return events.flatMap((event) => {
      const medCase = caseOf.get(event.subjectId);
      const sale = medCase && saleOf.get(medCase.transactionId);
      return sale ? [{ ...event, data: { ...event.data, ...toldOf(medCase, sale) } }] : [];
    });
  }

  async #refreshDisputed<T extends (typeof DISPUTED)[number]>(
    tx: Tx,
    events: readonly DomainEvent<T>[],
  ): Promise<DomainEvent<T>[]> {
    const found = await this.cases.findAll(
      tx,
      events.flatMap(({ data }) => (data.case ? [medCaseId(data.case.id)] : [])),
    );
    const caseOf = new Map<string, DisputeCase>(found.map((medCase) => [`med_${medCase.id}`, medCaseBody(medCase)]));
    return events.map((event) => {
      const medCase = caseOf.get(event.data.case?.id ?? '');
      return medCase ? { ...event, data: { ...event.data, case: medCase } } : event;
    });
  }
}
