import { Body, Controller, Get, Param, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ApiKeyAuth, AuditedAtDoor, Costs, CurrentScope } from '../../auth/index.js';
import { ApiRefusal, firstInstantOf, PostOk } from '../../core/http/index.js';
import { parseId } from '../../core/ids.js';
import type { Scope } from '../../core/mode.js';
import { deliveryDetail, deliveryItem, deliveryList, deliveryStats, recoveryBody } from './deliveries.serializer.js';
import { DeliveryLogService } from './delivery-log.service.js';
import { DeliveriesQuery } from '../dto/deliveries.query.js';
import {
  DeliveryBody,
  DeliveryDetailBody,
  DeliveryListBody,
  DeliveryStatsBody,
  RecoveryBody,
} from '../dto/delivery.body.js';
import { RecoverDto } from '../dto/recover.dto.js';
import { RecoveryService } from './recovery.service.js';

const ID = {
  name: 'id',
  description: '`wd_<uuid>` or the bare `<uuid>` of a delivery.',
  schema: { type: 'string' as const },
};

/** Looking through the events of weeks. */
const RECOVERY_TOKENS = 20;

@ApiTags('Webhooks')
@ApiKeyAuth()
@Controller('v1/webhooks')
export class DeliveriesController {
  constructor(
    private readonly log: DeliveryLogService,
    private readonly recovery: RecoveryService,
  ) {}

  @Get('deliveries')
  @Costs(({ offset }) => Math.floor(Number(offset ?? 0) / 1_000))
  @ApiOperation({
    summary: 'List webhook deliveries',
    description:
      'Newest first, with what was sent. Deliveries stay when their endpoint is deleted. An endpoint of another account or mode has none.',
  })
  @ApiOkResponse({ description: 'One page of them.', type: DeliveryListBody })
  async list(@CurrentScope() scope: Scope, @Query() query: DeliveriesQuery): Promise<DeliveryListBody> {
    const { limit = 25, offset = 0 } = query;
    const page = await this.log.list(scope, {
      status: query.status ?? null,
      eventType: query.eventType ?? null,
      endpointId: query.endpointId === undefined ? null : parseId(query.endpointId, ['wh_'], 'webhook endpoint'),
      subjectId: query.subject?.replace(/^[a-z]+_/, '') ?? null,
      limit,
      offset,
    });
    return deliveryList(page, limit, offset);
  }

  @Get('stats')
  @ApiOperation({ summary: 'Count webhook deliveries', description: 'All of the account in this mode, by status.' })
  @ApiOkResponse({ description: 'The counts.', type: DeliveryStatsBody })
  async getDeliveryStats(@CurrentScope() scope: Scope): Promise<DeliveryStatsBody> {
    return deliveryStats(await this.log.stats(scope));
  }

  @Get('deliveries/:id')
  @ApiOperation({
    summary: 'Read a webhook delivery with its attempts',
    description: 'Every attempt with its time, its duration, its answer (status and the first 8 KiB) or its failure.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'The delivery.', type: DeliveryDetailBody })
  async get(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<DeliveryDetailBody> {
    const { delivery, attempts } = await this.log.get(scope, id);
    return deliveryDetail(delivery, attempts);
  }

  @PostOk('deliveries/:id/retry')
  @AuditedAtDoor('webhook_delivery.retried')
  @ApiOperation({
    summary: 'Try a webhook delivery again now',
    description:
      'The same delivery, with the same `X-Service-Delivery-Id` and body. One that waits for its next retry is tried now and then goes on by the schedule. A FAILED one gets one more attempt, or, when a 410 ended it early, what was left of its attempts. One that is due or being sent anyhow is left alone.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'The delivery as it is now.', type: DeliveryBody })
  @ApiRefusal(400, {
    webhook_delivery_not_retryable: 'It is DELIVERED or CANCELLED, or was attempted a hundred times.',
    webhook_endpoint_inactive: 'Its endpoint is INACTIVE or deleted.',
  })
  async retry(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<DeliveryBody> {
    return deliveryItem(await this.log.retry(scope, id));
  }

  @PostOk('endpoints/:id/recover')
  @AuditedAtDoor('webhook_endpoint.recovered', (answer) => answer['dry_run'] !== true)
  @Costs(() => RECOVERY_TOKENS)
  @ApiOperation({
    summary: 'Bring an endpoint up to date after an outage',
    description:
      'For each charge with a delivery to this endpoint that ended FAILED or CANCELLED since `since`, one new delivery of the last event that the endpoint is subscribed to, with the charge as it is now. It is the same business event, with the same `id` and `sequence`. A charge that the endpoint has been told of since is left alone, so repeating the call sends nothing twice. `dry_run` only counts. What happened while the endpoint was INACTIVE made no deliveries: read it from the API.',
  })
  @ApiParam({ ...ID, description: '`wh_<uuid>` or the bare `<uuid>` of an endpoint.' })
  @ApiOkResponse({ description: 'What was found and done.', type: RecoveryBody })
  @ApiRefusal(400, { webhook_endpoint_inactive: 'The endpoint is INACTIVE: set it ACTIVE first.' })
  async recoverEndpoint(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: RecoverDto,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryBody> {
    const isGone = (): boolean => response.destroyed;
    const since = firstInstantOf(body.since);
    return recoveryBody(await this.recovery.recover(scope, id, since, body.dry_run ?? false, isGone));
  }
}
