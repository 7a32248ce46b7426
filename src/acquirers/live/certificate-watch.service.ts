import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { AccountsService } from '../../accounts/index.js';
import type { ConnectionSummary } from '../pix-api/connections.repository.js';
import { ConnectionsService } from '../pix-api/connections.service.js';
import { CERTIFICATE_WARNINGS } from '../pix-api/doctor.js';
import { Clock } from '../../core/clock.js';
import { Database } from '../../core/database/index.js';
import { groupBy } from '../../core/group-by.js';
import { Mailer } from '../../core/mail/index.js';
import { Metrics } from '../../core/metrics/index.js';
import { Poller } from '../../core/queue/index.js';
import { certificateMail } from './certificate-mails.js';

/** Shorter than a day: a process that is deployed every day would never reach a daily sweep. */
const SWEEP_MS = 3_600_000;
/** The last warnings first: if several were missed, only the latest is sent. */
const WARNING_DAYS = [...CERTIFICATE_WARNINGS].sort((a, b) => a - b);

/** Warns of client certificates that end soon: without a certificate no live Pix is charged or refunded. */
@Injectable()
export class CertificateWatch implements OnApplicationBootstrap {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountsService,
    private readonly connections: ConnectionsService,
    private readonly mailer: Mailer,
    private readonly metrics: Metrics,
    private readonly poller: Poller,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.gaugeBy(
      'recebe_acquirer_certificate_expires_seconds',
      'Seconds until the first client certificate at a PSP ends; below zero: it has ended.',
      'psp',
      () => this.secondsLeft(),
    );
    this.poller.onWorkers('acquirers.certificates', SWEEP_MS, () => this.sweep());
  }

  /** Sends each warning once for each certificate, in any number of workers. */
  async sweep(): Promise<void> {
    for (const days of WARNING_DAYS) {
      await this.database.transaction(async (tx) => {
        const claimed = await this.connections.claimWarnings(tx, days);
        // A certificate may serve several of the account's keys.
        for (const [, sharing] of groupBy(claimed, certificateOf)) {
          const [{ accountId, certificate } = { accountId: '', certificate: null }] = sharing;
          if (!certificate) continue;
          const account = await this.accounts.get(accountId, tx);
          this.mailer.enqueue(tx, certificateMail(account, sharing, certificate.expiresAt, this.clock.now()));
        }
      });
    }
  }

  /** Seconds until the first certificate expires, by PSP. */
  async secondsLeft(): Promise<Map<string, number>> {
    const now = this.clock.now().getTime();
    const expiries = await this.connections.firstExpiries();
    return new Map([...expiries].map(([psp, at]) => [psp, Math.round((at.getTime() - now) / 1000)]));
  }
}

function certificateOf({ accountId, certificate }: ConnectionSummary): string {
  return `${accountId} ${certificate?.fingerprint ?? ''}`;
}
