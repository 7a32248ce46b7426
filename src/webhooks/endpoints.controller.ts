import { Body, Controller, Get, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiKeyAuth, CurrentScope, LimitPerIp, Public } from '../auth/index.js';
import { ApiErrors, COMMON_HEADERS, ErrorBody, RESPONSE_HEADERS } from '../core/http/index.js';
import type { Scope } from '../core/mode.js';
import { EventCatalog } from '../outbox/index.js';
import { CreateEndpointDto } from './dto/create-endpoint.dto.js';
import { EndpointListBody, RegisteredEndpointBody } from './dto/endpoint.body.js';
import { EventCatalogItemBody } from './dto/event-catalog-item.body.js';
import { catalogItem, endpointList, registeredEndpoint } from './endpoints.serializer.js';
import { EndpointsService } from './endpoints.service.js';

@ApiTags('Webhooks')
@Controller('v1/webhooks')
export class EndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly catalog: EventCatalog,
  ) {}

  @Post('endpoints')
  @ApiKeyAuth()
  @ApiOperation({
    summary: 'Register a webhook endpoint',
    description:
      'At most 100 endpoints for each account and mode. Deliveries are POSTs whose `X-Service-Signature` is made with the `secret` of this answer: `t=<unix>,v1=<hex of "<t>.<rawBody>">` on canonical events, `sha256=<hex of rawBody>` on legacy ones. Any 2xx within 15 s is delivered; redirects are not followed; 410 sets the endpoint INACTIVE; everything else is tried again.',
  })
  @ApiCreatedResponse({ description: 'Registered.', type: RegisteredEndpointBody, headers: RESPONSE_HEADERS })
  @ApiErrors(400, 413, 415)
  @ApiResponse({
    status: 422,
    description: '`webhook_endpoint_limit_reached`: the account has 100 endpoints in this mode.',
    type: ErrorBody,
    headers: COMMON_HEADERS,
  })
  async register(@CurrentScope() scope: Scope, @Body() body: CreateEndpointDto): Promise<RegisteredEndpointBody> {
    const { endpoint, secret } = await this.endpoints.register(scope, body);
    return registeredEndpoint(endpoint, secret);
  }

  @Get('endpoints')
  @ApiKeyAuth()
  @ApiOperation({ summary: 'List webhook endpoints', description: 'Newest first, without their secrets.' })
  @ApiOkResponse({ description: 'The endpoints.', type: EndpointListBody, headers: RESPONSE_HEADERS })
  async list(@CurrentScope() scope: Scope): Promise<EndpointListBody> {
    return endpointList(await this.endpoints.list(scope));
  }

  @Get('event-catalog')
  @Public()
  @LimitPerIp()
  @ApiOperation({ summary: 'List subscribable event names', description: 'No authentication; 60 requests a minute.' })
  @ApiOkResponse({ description: 'The event names.', type: [EventCatalogItemBody], headers: RESPONSE_HEADERS })
  @ApiErrors(429, 500, 503)
  eventCatalog(): EventCatalogItemBody[] {
    return this.catalog.list().map(catalogItem);
  }
}
