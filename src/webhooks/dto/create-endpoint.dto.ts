import { IsArray, IsString } from 'class-validator';
import { OptionalEnum, RequiredField } from '../../core/http/index.js';
import { ENDPOINT_SIGNATURES, type EndpointSignature } from '../webhook-endpoint.entity.js';

/** The headers with which deliveries are signed. */
export const SignatureChoice = (description: string): PropertyDecorator =>
  OptionalEnum(
    `\`standard\` adds \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\` of Standard Webhooks to each delivery; \`X-Service-Signature\` stays. ${description}`,
    ENDPOINT_SIGNATURES,
    { example: 'standard' },
  );

export class CreateEndpointDto {
  @IsString({ message: 'must be a string' })
  @RequiredField({
    description:
      'Where deliveries are posted, at most 2048 characters, without user name or password. Live mode takes https only; test mode also http.',
    type: String,
    format: 'uri',
    maxLength: 2048,
    example: 'https://merchant.example/webhooks/recebe',
  })
  url!: string;

  // The service checks the names, which are in the event catalog.
  @IsArray({ message: 'must be a list of event names' })
  @RequiredField({
    description:
      'Event names from `GET /v1/webhooks/event-catalog`; duplicates are collapsed, an unknown name is a 400. `"*"` subscribes to every canonical name, those of later versions included: `charge.*`, `payout.*`, `med_case.*` and `med.resolved`, never the legacy `payment.*` and `withdrawal.*`. An endpoint subscribed to several names of one transition gets one delivery for each.',
    type: 'array',
    items: { type: 'string', minLength: 1, pattern: '^(\\*|[a-z_]+\\.[a-z_]+)$' },
    minItems: 1,
    maxItems: 100,
    example: ['charge.paid', 'charge.expired'],
  })
  events!: string[];

  @SignatureChoice('Left out: `default`.')
  signature?: EndpointSignature;
}
