import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Text, Time } from '../../core/http/index.js';
import { ENDPOINT_STATUSES, type EndpointStatus } from '../webhook.entity.js';

const ID_DESCRIPTION = 'Id of the endpoint.';
const ID_EXAMPLE = '019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e';
const URL_DESCRIPTION = 'Where deliveries are posted.';
const URL_EXAMPLE = 'https://merchant.example/webhooks/recebe';
const EVENTS_DESCRIPTION = 'Subscribed event names; `"*"` stands for every canonical name.';
const EVENTS_EXAMPLE = ['charge.paid', 'charge.expired'];
const STATUS_DESCRIPTION = 'Only an ACTIVE endpoint gets deliveries. An answer 410 makes it INACTIVE.';
const SECRET_DESCRIPTION =
  'Key of the HMAC-SHA256 signatures, 64 hex characters taken as UTF-8 text. Shown here only: keep it.';
const SECRET_EXAMPLE = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export class RegisteredEndpointBody {
  @Text(ID_DESCRIPTION, ID_EXAMPLE) id!: string;
  @Text(URL_DESCRIPTION, URL_EXAMPLE) url!: string;
  @ApiProperty({ description: EVENTS_DESCRIPTION, type: [String], example: EVENTS_EXAMPLE }) events!: string[];
  @Text(SECRET_DESCRIPTION, SECRET_EXAMPLE) secret!: string;
  @ApiProperty({ description: STATUS_DESCRIPTION, enum: ENDPOINT_STATUSES, example: 'ACTIVE' })
  status!: EndpointStatus;
}

export class EndpointBody {
  @Text('`wh_` and the id given at registration; routes take both forms.', 'wh_019a4c1e-8a00-7c3d-9d52-6f1b2a3c4d5e')
  id!: string;
  @Text(URL_DESCRIPTION, URL_EXAMPLE) url!: string;
  @ApiProperty({ description: EVENTS_DESCRIPTION, type: [String], example: EVENTS_EXAMPLE }) events!: string[];
  @ApiProperty({ description: STATUS_DESCRIPTION, enum: ENDPOINT_STATUSES, example: 'ACTIVE' })
  status!: EndpointStatus;
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

export class UpdatedEndpointBody {
  @Text(ID_DESCRIPTION, ID_EXAMPLE) id!: string;
  @Text(URL_DESCRIPTION, URL_EXAMPLE) url!: string;
  @ApiProperty({ description: EVENTS_DESCRIPTION, type: [String], example: EVENTS_EXAMPLE }) events!: string[];
  @ApiProperty({ description: STATUS_DESCRIPTION, enum: ENDPOINT_STATUSES, example: 'ACTIVE' })
  status!: EndpointStatus;
}

export class DeletedEndpointBody {
  @ApiProperty({ description: 'Always true.', example: true }) deleted!: boolean;
}

export class RotatedSecretBody {
  @Text(ID_DESCRIPTION, ID_EXAMPLE) id!: string;
  @Text(SECRET_DESCRIPTION, SECRET_EXAMPLE) secret!: string;
}

export class DefaultSecretBody {
  @Text(SECRET_DESCRIPTION, SECRET_EXAMPLE) secret!: string;
}
