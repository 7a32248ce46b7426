import type { WorkItem } from './work.repository.js';

/** A piece of work as operators and the command line see it. */
export function workItemBody(work: WorkItem) {
  return {
    kind: work.kind,
    subject_id: work.subjectId,
    due_at: work.dueAt.toISOString(),
    attempts: work.attempts,
    leased_until: work.leasedUntil?.toISOString() ?? null,
    last_error: work.lastError,
    failing_since: work.failingSince?.toISOString() ?? null,
  };
}
