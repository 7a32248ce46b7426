import { Body, Controller, Delete, Get, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../audit/index.js';
import { ApiKeyAuth, CurrentScope, LimitPerIp, Public, CurrentActor } from '../../auth/index.js';
import { Clock } from '../../core/clock.js';
import { Draft } from '../../core/errors/index.js';
import { ApiErrors, ApiRefusal, DraftBody, PostOk } from '../../core/http/index.js';
import type { Scope } from '../../core/mode.js';
import { EventCatalog } from '../../outbox/index.js';
import { deliveryItem } from '../log/deliveries.serializer.js';
import { CreateEndpointDto } from '../dto/create-endpoint.dto.js';
import { DeliveryBody } from '../dto/delivery.body.js';
import {
  DeletedEndpointBody,
  EndpointListBody,
  RegisteredEndpointBody,
  RotatedSecretBody,
  UpdatedEndpointBody,
} from '../dto/endpoint.body.js';
import { EventCatalogItemBody } from '../dto/event-catalog-item.body.js';
import { RotateSecretDto } from '../dto/rotate-secret.dto.js';
import { TestEndpointDto } from '../dto/test-endpoint.dto.js';
import { UpdateEndpointDto } from '../dto/update-endpoint.dto.js';
import {
  catalogItem,
  endpointList,
  registeredEndpoint,
  rotatedSecret,
  updatedEndpoint,
} from './endpoints.serializer.js';
import { EndpointsService } from './endpoints.service.js';
import { SamplesService } from '../log/samples.service.js';

const ID = {
  name: 'id',
  description: '`wh_<uuid>` or the bare `<uuid>` of an endpoint.',
  schema: { type: 'string' as const },
};

@ApiTags('Webhooks')
@Controller('v1/webhooks')
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly samples: SamplesService,
    private readonly catalog: EventCatalog,
    private readonly clock: Clock,
  ) {}

  @Post('endpoints')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Register a webhook endpoint',
    description:
      'At most 100 endpoints for each account and mode. Deliveries are POSTs whose `X-Service-Signature` is made with the `secret` of this answer: `t=<unix>,v1=<hex of "<t>.<rawBody>">` on canonical events, `sha256=<hex of rawBody>` on legacy ones. With `signature: "standard"` they have the headers of Standard Webhooks too. Any 2xx within 15 s is delivered; redirects are not followed; 410 sets the endpoint INACTIVE; everything else is tried again.',
  })
  @ApiCreatedResponse({ description: 'Registered.', type: RegisteredEndpointBody })
  @ApiRefusal(422, { webhook_endpoint_limit_reached: 'The account has 100 endpoints in this mode.' })
  async register(
    @CurrentScope() scope: Scope,
    @DraftBody(CreateEndpointDto) body: Draft<CreateEndpointDto>,
    @CurrentActor() actor: Actor,
  ): Promise<RegisteredEndpointBody> {
    const { endpoint, secret } = await this.endpoints.register(scope, body, actor);
    return registeredEndpoint(endpoint, secret);
  }

  @Get('endpoints')
  @ApiKeyAuth()
  @ApiOperation({ summary: 'List webhook endpoints', description: 'Newest first, without their secrets.' })
  @ApiOkResponse({ description: 'The endpoints.', type: EndpointListBody })
  async list(@CurrentScope() scope: Scope): Promise<EndpointListBody> {
    return endpointList(await this.endpoints.list(scope), this.clock.now());
  }

  @Patch('endpoints/:id')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Change a webhook endpoint',
    description:
      'Send only what changes; without any field, or without a body, nothing does and the answer is the endpoint as it is. A delivery under way when the endpoint becomes INACTIVE ends as it ends and is not tried again.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'As it is now.', type: UpdatedEndpointBody })
  async update(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @DraftBody(UpdateEndpointDto) body: Draft<UpdateEndpointDto>,
    @CurrentActor() actor: Actor,
  ): Promise<UpdatedEndpointBody> {
    return updatedEndpoint(await this.endpoints.update(scope, id, body, actor));
  }

  @Delete('endpoints/:id')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Delete a webhook endpoint',
    description:
      'Deliveries that wait are cancelled and its secrets are erased; past deliveries stay in the list. It cannot be undone: from now on its id is a 404.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'Deleted.', type: DeletedEndpointBody })
  async remove(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<DeletedEndpointBody> {
    await this.endpoints.remove(scope, id, actor);
    return { deleted: true };
  }

  @PostOk('endpoints/:id/rotate-secret')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Make a new signing secret',
    description:
      'The swap is instantaneous: what is signed after this answer is signed with the new secret, so let your verifier accept both across a deploy. With `overlap_seconds` the old secret signs too for that long, after the new one in the same header: `t=<unix>,v1=<new>,v1=<old>` or `sha256=<new>,sha256=<old>`. The body may be left out.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'The new secret.', type: RotatedSecretBody })
  async rotateEndpointSecret(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() body: RotateSecretDto,
    @CurrentActor() actor: Actor,
  ): Promise<RotatedSecretBody> {
    const rotated = await this.endpoints.rotateSecret(scope, id, body.overlap_seconds ?? 0, actor);
    return rotatedSecret(rotated.id, rotated.secret, rotated.signature);
  }

  @PostOk('endpoints/:id/test')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Send a sample event',
    description:
      'Posts an event of that name to the endpoint at once, signed as a real one, whatever the endpoint is subscribed to. Its content is of nothing that exists: it has ids of its own, `"sample": true` in its envelope, and on charges `{"sample": true}` as `metadata`. It is a delivery of its own in the list, with a single attempt; read it by its id to see how it ended. A name that this version does not send is a 400 `invalid_request`.',
  })
  @ApiParam(ID)
  @ApiOkResponse({ description: 'The delivery, on its way.', type: DeliveryBody })
  @ApiRefusal(400, { webhook_endpoint_inactive: 'The endpoint is INACTIVE: set it ACTIVE first.' })
  async test(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @DraftBody(TestEndpointDto) body: Draft<TestEndpointDto>,
  ): Promise<DeliveryBody> {
    return deliveryItem(await this.samples.send(scope, id, body));
  }

  @Get('event-catalog')
  @Public()
  @LimitPerIp()
  @ApiOperation({ summary: 'List subscribable event names', description: 'No authentication; 60 requests a minute.' })
  @ApiOkResponse({ description: 'The event names.', type: [EventCatalogItemBody] })
  @ApiErrors('internal_error', 'service_unavailable')
  getEventCatalog(): EventCatalogItemBody[] {
    return this.catalog.list().map(catalogItem);
  }

  @Get('event-catalog/:event/sample')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Show a sample event',
    description:
      'The body that an endpoint gets of an event of that name, as `POST /v1/webhooks/endpoints/{id}/test` sends it: its content is of nothing that exists, and it has `"sample": true`.',
  })
  @ApiParam({
    name: 'event',
    description: 'Name of an event.',
    schema: { type: 'string' as const },
    example: 'charge.paid',
  })
  @ApiOkResponse({
    description: 'The body of the webhook.',
    schema: {
      type: 'object',
      additionalProperties: true,
      required: ['sample'],
      properties: { sample: { type: 'boolean', description: 'True: nothing of it exists.', example: true } },
    },
  })
  getEventSample(@CurrentScope() scope: Scope, @Param('event') event: string): object {
    return this.samples.show(scope, event);
  }
}
