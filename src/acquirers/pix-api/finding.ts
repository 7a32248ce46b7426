export type DoctorStep =
  'settings' | 'certificate' | 'tls' | 'token' | 'scope' | 'charge' | 'callback' | 'webhook' | 'payouts';

export interface Finding {
  readonly step: DoctorStep;
  readonly ok: boolean | 'warning' | 'skipped';
  /** The result of the step. No secret and no person is named. */
  readonly detail: string;
  /** The remedy for the operator; null when nothing has to be done. */
  readonly remedy: string | null;
}
