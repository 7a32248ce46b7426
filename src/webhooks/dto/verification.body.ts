import { ApiProperty } from '@nestjs/swagger';
import { NullableInteger, NullableText, NullableTime, Text, Time } from '../../core/http/index.js';
import { BODY_DIFFERENCES, type BodyDifference } from '../verify/body-differences.js';
import { VERIFICATION_REASONS, type VerificationReason } from '../verify/verification.js';

const SECRETS = ['current', 'previous', 'other_endpoint', 'default', 'unknown'] as const;

export type SecretKind = (typeof SECRETS)[number];

export class VerificationDetailsBody {
  @ApiProperty({
    description: 'What the header is signed like: `t=…,v1=…` or `sha256=…`; null when it is neither.',
    type: String,
    enum: ['canonical', 'legacy', null],
    nullable: true,
    example: 'canonical',
  })
  scheme!: 'canonical' | 'legacy' | null;

  @NullableText(
    'The delivery that body and time were compared with; null without an id, or when it is not yours.',
    'wd_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5f',
  )
  deliveryId!: string | null;

  @NullableText(
    'The endpoint whose secret the signature is, or should be, made with; null when that is not known, or for a delivery to the `webhookUrl` of a payment.',
    'wh_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e',
  )
  endpointId!: string | null;

  @ApiProperty({
    description:
      'What the secret given is: the `current` or the `previous` one of that endpoint (or of the account, for a `webhookUrl`), of an `other_endpoint`, the account’s `default` one where an endpoint’s is due, or `unknown`; null when it was not looked at.',
    type: String,
    enum: [...SECRETS, null],
    nullable: true,
    example: 'current',
  })
  secret!: SecretKind | null;

  @NullableText('When `secret` is `other_endpoint`: that endpoint.', null) secretEndpointId!: string | null;

  @NullableTime('`t` of the header, UTC; null on legacy events.', '2026-11-03T12:00:00.000Z') timestamp!: string | null;

  @NullableInteger('Seconds from `timestamp` to `checkedAt`; negative when it lies in the future.', 2)
  secondsOff!: number | null;

  @Time('Our clock: compare yours with it. UTC.', '2026-11-03T12:00:02.000Z') checkedAt!: string;

  @ApiProperty({
    description:
      'How the body differs from what was sent. `charset`: its UTF-8 was read as Latin-1; `truncated`: its end is missing; `content`: it says something else. The others leave the JSON the same, but not its bytes.',
    type: [String],
    enum: BODY_DIFFERENCES,
    example: ['whitespace', 'key_order'],
  })
  differences!: BodyDifference[];
}

export class VerificationBody {
  @ApiProperty({ description: 'Whether the signature is right and not too old.', example: true }) valid!: boolean;

  @ApiProperty({
    description: 'Why not; null when it is.',
    type: String,
    enum: [...VERIFICATION_REASONS, null],
    nullable: true,
    example: null,
  })
  reason!: VerificationReason | null;

  @Text('The same for people; may change.', 'The signature is right.') message!: string;

  @ApiProperty({ description: 'What was found.', type: VerificationDetailsBody }) details!: VerificationDetailsBody;
}
