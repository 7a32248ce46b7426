import { IsArray, IsString } from 'class-validator';
import { OptionalEnum, OptionalField } from '../../core/http/index.js';
import { type EndpointSignature, ENDPOINT_STATUSES, type EndpointStatus } from '../webhook-endpoint.entity.js';
import { SignatureChoice } from './create-endpoint.dto.js';

export class UpdateEndpointDto {
  @OptionalField({
    description:
      'Where deliveries are posted from now on, those that wait included; the rules of registration hold. A new address starts with a clean record: failures of the old one no longer count.',
    format: 'uri',
    maxLength: 2048,
    example: 'https://merchant.example/webhooks/recebe',
  })
  @IsString({ message: 'must be a string' })
  url?: string;

  @OptionalField({
    description: 'Replaces the subscribed event names; the rules of registration hold. For events from now on.',
    type: 'array',
    items: { type: 'string', minLength: 1, pattern: '^(\\*|[a-z_]+\\.[a-z_]+)$' },
    minItems: 1,
    maxItems: 100,
    example: ['charge.paid', 'charge.expired'],
  })
  // The service checks the names, which are in the event catalog.
  @IsArray({ message: 'must be a list of event names' })
  events?: string[];

  @OptionalEnum(
    '`INACTIVE` stops deliveries and cancels those that wait: they do not come back. `ACTIVE` lets events from now on be delivered, and clears the record of failures.',
    ENDPOINT_STATUSES,
    { example: 'ACTIVE' },
  )
  status?: EndpointStatus;

  @SignatureChoice('The secret stays; as `standardSecret` it is `whsec_` and the base64 of its 32 bytes.')
  signature?: EndpointSignature;
}
