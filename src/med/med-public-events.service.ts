import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Tx } from '../core/database/index.js';
import { type DomainEvent, EventCatalog } from '../outbox/index.js';
import { medCaseBody } from './med-case.serializer.js';
import { sampleMedEvent, sampleResolvedEvent } from './med-case.sample.js';
import { MedCasesRepository } from './med-cases.repository.js';
import { MED_EVENT_TYPES, type MedEventType } from './med.events.js';

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

/** How it has ended, and how after all. */
const RESOLVED = ['med_case.resolved', 'med_case.corrected'] as const;

/** Source: docs/contract.md#event-names. */
@Injectable()
export class MedPublicEvents implements OnModuleInit {
  constructor(
    private readonly catalog: EventCatalog,
    private readonly cases: MedCasesRepository,
  ) {}

  onModuleInit(): void {
    for (const event of EVENTS) {
      this.catalog.register({
        ...event,
        family: 'canonical',
        present: ({ data }) => (data.isMuted ? null : data.case),
      });
    }
    for (const from of RESOLVED) {
      this.catalog.register({
        name: 'med.resolved',
        from,
        family: 'canonical',
        description: 'The money of a MED case has its final destination.',
        present: ({ data }) => (data.isMuted ? null : data.case),
        beside: ({ data }) => ({ resolution: data.resolution }),
      });
    }
    this.catalog.registerSample(MED_EVENT_TYPES, sampleMedEvent);
    this.catalog.registerSample(['med_case.resolved'], sampleResolvedEvent);
    this.catalog.registerRefresh([...MED_EVENT_TYPES, ...RESOLVED], (tx, events) => this.#refresh(tx, events));
  }

  /** The resolution stays: it tells of money that has moved. */
  async #refresh<T extends MedEventType | (typeof RESOLVED)[number]>(
    tx: Tx,
    events: readonly DomainEvent<T>[],
  ): Promise<DomainEvent<T>[]> {
    const found = await this.cases.findAll(
      tx,
      events.map(({ subjectId }) => subjectId),
    );
    const byId = new Map(found.map((medCase) => [medCase.id, medCaseBody(medCase)]));
    return events.flatMap((event) => {
      const body = byId.get(event.subjectId);
      return body ? [{ ...event, data: { ...event.data, case: body } }] : [];
    });
  }
}
