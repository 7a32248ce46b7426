import { Body, Controller } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../../audit/index.js';
import { ApiKeyAuth, CurrentActor, CurrentScope, OpenToMembers } from '../../auth/index.js';
import { PostOk } from '../../core/http/index.js';
import type { Scope } from '../../core/mode.js';
import { DefaultSecretsService } from '../endpoints/default-secrets.service.js';
import { DefaultSecretBody } from '../dto/endpoint.body.js';
import { RotateSecretDto } from '../dto/rotate-secret.dto.js';
import { VerificationBody } from '../dto/verification.body.js';
import { VerifyDto } from '../dto/verify.dto.js';
import { VerificationService } from './verification.service.js';

@ApiTags('Webhooks')
@ApiKeyAuth()
@Controller('v1/webhooks')
export class SigningController {
  constructor(
    private readonly defaultSecrets: DefaultSecretsService,
    private readonly verification: VerificationService,
  ) {}

  @PostOk('default-secret/rotate')
  @ApiOperation({
    summary: 'Make a new default secret',
    description:
      'The default secret of the account in this mode signs what goes to the `webhookUrl` of a payment. Call this once to learn it, and again to change it: the swap is instantaneous, unless `overlap_seconds` lets the old one sign too. The body may be left out.',
  })
  @ApiOkResponse({ description: 'The new secret.', type: DefaultSecretBody })
  async rotateDefaultSecret(
    @CurrentScope() scope: Scope,
    @Body() body: RotateSecretDto,
    @CurrentActor() actor: Actor,
  ): Promise<DefaultSecretBody> {
    return { secret: await this.defaultSecrets.rotate(scope, body.overlap_seconds ?? 0, actor) };
  }

  @PostOk('verify')
  @OpenToMembers()
  @ApiOperation({
    summary: 'Find out why a signature fails',
    description:
      'Verifies a webhook as your receiver would, and says in `reason` what is wrong: a missing, malformed or wrong-scheme signature, a secret with a line break or decoded from hex, the secret of before a rotation or of another endpoint, a body that was parsed and written anew or changed, a time that is more than 300 s off or was changed. Compares with what was sent to this account in this mode. Secret and body are neither stored nor logged.',
  })
  @ApiOkResponse({ description: 'The verdict, also for a signature that fails.', type: VerificationBody })
  verifySignature(@CurrentScope() scope: Scope, @Body() body: VerifyDto): Promise<VerificationBody> {
    return this.verification.verify(scope, body);
  }
}
