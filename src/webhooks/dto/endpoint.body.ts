import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Text, Time } from '../../core/http/index.js';
import {
  ENDPOINT_SIGNATURES,
  type EndpointSignature,
  ENDPOINT_STATUSES,
  type EndpointStatus,
} from '../webhook-endpoint.entity.js';

const ID_EXAMPLE = '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e';

const Secret = (): PropertyDecorator =>
  Text(
    'Key of the HMAC-SHA256 signatures, 64 hex characters taken as UTF-8 text. Shown here only: keep it.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  );

const StandardSecret = (): PropertyDecorator =>
  ApiPropertyOptional({
    description:
      'Of an endpoint with `signature: "standard"`: the same secret as libraries of Standard Webhooks take it.',
    example: 'whsec_n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  });

export class DefaultSecretBody {
  @Secret() secret!: string;
}

export class RotatedSecretBody extends DefaultSecretBody {
  @Text('Id of the endpoint.', ID_EXAMPLE) id!: string;
  @StandardSecret() standardSecret?: string;
}

export class UpdatedEndpointBody {
  @Text('Id of the endpoint.', ID_EXAMPLE) id!: string;
  @Text('Where deliveries are posted.', 'https://merchant.example/webhooks/recebe') url!: string;
  @ApiProperty({
    description: 'Subscribed event names; `"*"` stands for every canonical name.',
    type: [String],
    example: ['charge.paid', 'charge.expired'],
  })
  events!: string[];
  @ApiProperty({
    description: 'Only an ACTIVE endpoint gets deliveries. An answer 410 makes it INACTIVE.',
    enum: ENDPOINT_STATUSES,
    example: 'ACTIVE',
  })
  status!: EndpointStatus;
  @ApiPropertyOptional({
    description: '`standard`: with the headers of Standard Webhooks. Not there for `default`.',
    enum: ENDPOINT_SIGNATURES,
    example: 'standard',
  })
  signature?: EndpointSignature;
}

export class RegisteredEndpointBody extends UpdatedEndpointBody {
  @Secret() secret!: string;
  @StandardSecret() standardSecret?: string;
}

export class EndpointBody extends UpdatedEndpointBody {
  @Text('`wh_` and the id given at registration; routes take both forms.', `wh_${ID_EXAMPLE}`) declare id: string;
  @Time('When it was registered, UTC.', '2026-11-03T12:00:00.000Z') createdAt!: string;
  @Time('When it last changed, UTC.', '2026-11-03T12:00:00.000Z') updatedAt!: string;
  @ApiPropertyOptional({
    description: 'After a rotation with `overlap_seconds`: until when the secret before signs too, UTC.',
    format: 'date-time',
    example: '2026-11-04T12:00:00.000Z',
  })
  previousSecretUntil?: string;
  @ApiPropertyOptional({
    description: 'Of an ACTIVE endpoint: since when no attempt has succeeded, UTC; not there while they do.',
    format: 'date-time',
    example: '2026-11-04T12:00:00.000Z',
  })
  failingSince?: string;
}

export class EndpointListBody {
  @ApiProperty({ description: 'Every endpoint of the account in this mode, newest first.', type: [EndpointBody] })
  data!: EndpointBody[];
}

export class DeletedEndpointBody {
  @ApiProperty({ description: 'Always true.', example: true }) deleted!: boolean;
}
