import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import {
  CurrentActor,
  CurrentMember,
  DashboardAuth,
  type MemberPrincipal,
  RoleRefusal,
  SecondFactorRule,
} from '../auth/index.js';
import { lastInstantOf } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import { apiKeyDetails, apiKeyList } from './api-keys.serializer.js';
import { ApiKeysService, type KeyTerms } from './api-keys.service.js';
import { ApiKeyDetailsBody, ApiKeyListBody, IssuedApiKeyBody, RevokedBody } from './dto/api-key.body.js';
import { IssueApiKeyDto, RotateApiKeyDto } from './dto/api-key.dto.js';

const KEY_ID = { name: 'id', description: 'Id of the key.', schema: { type: 'string' as const } };

/** Returns the sent terms; fields that were left out are absent. */
function termsOf({ label, expires_at: expiresAt, allowed_ips: allowedIps }: RotateApiKeyDto): Partial<KeyTerms> {
  return {
    ...(label === undefined ? {} : { label }),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt === null ? null : lastInstantOf(expiresAt) }),
    ...(allowedIps === undefined ? {} : { allowedIps }),
  };
}

@ApiTags('API keys')
@RoleRefusal('API_KEY_ROLE_REQUIRED')
@Controller('v1/api-keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly secondFactor: SecondFactorRule,
  ) {}

  @Post()
  @DashboardAuth('OWNER', 'ADMIN')
  @ApiOperation({
    summary: 'Issue an API key',
    description: 'Several keys may work at once. The key is in this answer only: what is kept is its hash.',
  })
  @ApiCreatedResponse({ description: 'Issued.', type: IssuedApiKeyBody })
  issue(
    @CurrentMember() member: MemberPrincipal,
    @Body() dto: IssueApiKeyDto,
    @CurrentActor() actor: Actor,
  ): Promise<IssuedApiKeyBody> {
    if (dto.test !== true) this.secondFactor.check(member);
    return this.keys.issue(member.accountId, { mode: dto.test === true ? 'test' : 'live', ...termsOf(dto) }, actor);
  }

  @Get()
  @DashboardAuth()
  @ApiOperation({ summary: 'List API keys', description: 'Of both modes, without the keys themselves.' })
  @ApiOkResponse({ description: 'The keys that work.', type: ApiKeyListBody })
  async list(@CurrentMember() { accountId, role }: MemberPrincipal): Promise<ApiKeyListBody> {
    return apiKeyList(await this.keys.list(accountId), role === 'OWNER' || role === 'ADMIN');
  }

  @Get(':id')
  @DashboardAuth()
  @ApiOperation({
    summary: 'Read an API key',
    description: 'One that has not been revoked: who issued it, when it was last used, until when and where it works.',
  })
  @ApiParam(KEY_ID)
  @ApiOkResponse({ description: 'The key, without itself.', type: ApiKeyDetailsBody })
  async get(@CurrentMember() { accountId }: MemberPrincipal, @Param('id') id: string): Promise<ApiKeyDetailsBody> {
    return apiKeyDetails(await this.keys.find(accountId, parseId(id, [], 'API key')));
  }

  @Post(':id/rotate')
  @DashboardAuth('OWNER', 'ADMIN')
  @HttpCode(201)
  @ApiOperation({
    summary: 'Rotate an API key',
    description:
      'Ends the key and issues another one of the same mode, at once: the old key stops working before this answer. What is left out stays as it was.',
  })
  @ApiParam(KEY_ID)
  @ApiCreatedResponse({ description: 'The new key.', type: IssuedApiKeyBody })
  async rotate(
    @CurrentMember() member: MemberPrincipal,
    @Param('id') id: string,
    @Body() dto: RotateApiKeyDto,
    @CurrentActor() actor: Actor,
  ): Promise<IssuedApiKeyBody> {
    const keyId = await this.#mayChange(member, id);
    return this.keys.rotate(member.accountId, keyId, termsOf(dto), actor);
  }

  @Delete(':id')
  @DashboardAuth('OWNER', 'ADMIN')
  @ApiOperation({ summary: 'Revoke an API key', description: 'It stops working at once, for ever.' })
  @ApiParam(KEY_ID)
  @ApiOkResponse({ description: 'Revoked.', type: RevokedBody })
  async revoke(
    @CurrentMember() member: MemberPrincipal,
    @Param('id') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RevokedBody> {
    await this.keys.revoke(member.accountId, await this.#mayChange(member, id), actor);
    return { revoked: true };
  }

  /** @returns the id of the key; without a second factor, in production, it must be a test key */
  async #mayChange(member: MemberPrincipal, id: string): Promise<string> {
    const keyId = parseId(id, [], 'API key');
    const { mode } = await this.keys.find(member.accountId, keyId);
    if (mode === 'live') this.secondFactor.check(member);
    return keyId;
  }
}
