import type { SecretKind, VerificationBody } from '../dto/verification.body.js';
import type { SentDelivery, Verification } from './verification.js';

export function verificationBody(
  verification: Verification,
  delivery: Pick<SentDelivery, 'id'> | null,
  now: Date,
): VerificationBody {
  const { given, signer, timestamp } = verification;
  const secret = givenSecret(verification);
  // The endpoint whose secret is expected: that of the delivery, else the one that has the secret.
  const endpointId = signer ? signer.owner : secret === 'current' || secret === 'previous' ? ownerOf(given) : null;
  return {
    valid: verification.valid,
    reason: verification.reason,
    message: verification.message,
    details: {
      scheme: verification.scheme,
      deliveryId: delivery ? `wd_${delivery.id}` : null,
      endpointId: endpointId === null ? null : `wh_${endpointId}`,
      secret,
      secretEndpointId: secret === 'other_endpoint' ? `wh_${ownerOf(given)}` : null,
      timestamp: timestamp === null ? null : new Date(timestamp * 1000).toISOString(),
      secondsOff: verification.secondsOff,
      checkedAt: now.toISOString(),
      differences: [...verification.differences],
    },
  };
}

function givenSecret({ given, signer }: Verification): SecretKind | null {
  if (given === null || given === 'unknown') return given;
  if (!signer || signer.owner === given.owner) return given.age;
  return given.owner === null ? 'default' : 'other_endpoint';
}

function ownerOf(given: Verification['given']): string | null {
  return given === null || given === 'unknown' ? null : given.owner;
}
