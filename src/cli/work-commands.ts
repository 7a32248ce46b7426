import type { Command } from 'commander';
import { workItemBody, WorkService } from '../core/work/index.js';
import { UsageError, uuid } from './command.js';
import { run } from './run.js';
import type { Shell } from './shell.js';

const MOST = 1_000;

export function workCommands(program: Command, shell: Shell): void {
  const group = program.command('work').description('what is done later: refunds, calls to acquirers and the like');
  group
    .command('list')
    .description(`what should have been done by now, or has failed; at most ${MOST}, due longest first`)
    .option('--kind <kind>', 'only this kind')
    .action(async ({ kind }: { kind?: string }) => {
      await run(shell, async ({ app }) => ({
        work: (await app.get(WorkService).overdue(kind ?? null, MOST)).map(workItemBody),
      }));
    });
  group
    .command('retry')
    .description('have one done now instead of in its next pause')
    .argument('<kind>', 'as `work list` prints it')
    .argument('<subject_id>', 'as `work list` prints it', (text: string) =>
      uuid(text, 'Name it by its id, as `work list` prints it.'),
    )
    .action(async (kind: string, subjectId: string) => {
      await run(shell, async ({ app }) => {
        const retried = await app.get(WorkService).retry(kind, subjectId);
        if (!retried) throw new UsageError(`There is no work of kind ${kind} about ${subjectId}, or it runs now.`);
        return workItemBody(retried);
      });
    });
}
