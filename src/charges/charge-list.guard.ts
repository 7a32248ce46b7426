import { type CanActivate, Inject, Injectable } from '@nestjs/common';
import { type Config, CONFIG } from '../core/config/index.js';
import { noSuchRoute } from '../core/errors/index.js';

/** Unless the list is switched on, every key gets 404 before its query is looked at: no filter is right or wrong. */
@Injectable()
export class ChargeListGuard implements CanActivate {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  canActivate(): boolean {
    if (!this.config.chargeListEnabled) throw noSuchRoute('GET /v1/payments');
    return true;
  }
}
