import { Process, Processor } from '@nestjs/bull';
import type { Job } from '../../../core/queue/index.js';
import { CallbackReader } from '../callback-reader.js';

@Processor('acquirers.callback')
export class CallbackProcessor {
  constructor(private readonly reader: CallbackReader) {}

  @Process({ concurrency: 4 })
  async run({ data }: Job<'acquirers.callback'>): Promise<void> {
    await this.reader.read(data.callbackId);
  }
}
