import { findDesk } from './desks/index.js';
import { DEFAULT_SETTLEMENT_LAG, type Fact, type PspProfile, SCOPES, type TokenStyle } from './profile.js';

const BACEN = 'https://github.com/bacen/pix-api (API Pix 2.9.0)';
const EFI_SDK = 'https://github.com/efipay/sdk-node-apis-efi (src/lib/constants.js)';
const EFI_ENDPOINTS = 'https://github.com/efipay/sdk-node-apis-efi (src/lib/endpoints.js)';
const EFI_WEBHOOKS = 'https://dev.efipay.com.br/docs/api-pix/webhooks/';
const ITAU_AUTHENTICATION = 'https://devportal.itau.com.br/autenticacao-documentacao';
/** Source ACBr, for facts that the bank does not state: an open component that many Brazilian tills run on. */
const acbr = (unit: string): string => `Projeto ACBr, ${unit}.pas`;

const verified = <T>(value: T, source: string): Fact<T> => ({ value, source });
const unverified = <T>(value: T): Fact<T> => ({ value, source: null });

const token = (style: Partial<TokenStyle>): TokenStyle => ({
  authentication: 'basic',
  contentType: 'form',
  grantType: 'body',
  scope: SCOPES,
  headers: {},
  ...style,
});

/** The standard: the default for every fact that a PSP does not define. */
const STANDARD: PspProfile = {
  name: 'standard',
  title: 'API Pix as BACEN writes it',
  baseUrl: { production: unverified(null), homologation: unverified(null) },
  tokenUrl: { production: unverified(null), homologation: unverified(null) },
  token: verified(token({}), BACEN),
  prefix: verified({ all: '', only: {} }, BACEN),
  headers: verified({}, BACEN),
  webhookHeaders: verified({}, BACEN),
  query: verified({}, BACEN),
  errors: verified('problem', BACEN),
  webhook: verified({ body: 'object', suffix: '/pix' }, BACEN),
  inbound: verified({ mtls: true, addresses: null }, BACEN),
  rateLimit: unverified(null),
  longestWindow: unverified(24),
  settlementLag: unverified(DEFAULT_SETTLEMENT_LAG),
  mtls: verified(true, BACEN),
  phoneInPath: unverified('escaped'),
  payouts: unverified(null),
  variables: {},
  optionalVariables: {},
};

/** Makes a PSP's profile. Facts of the standard are unverified for this PSP, so they lose their source. */
function psp(name: string, title: string, own: Partial<PspProfile>): PspProfile {
  const { token: style, prefix, headers, webhookHeaders, query, errors, webhook, inbound } = STANDARD;
  const desk = findDesk(name);
  return {
    ...STANDARD,
    token: unverified(style.value),
    prefix: unverified(prefix.value),
    headers: unverified(headers.value),
    webhookHeaders: unverified(webhookHeaders.value),
    query: unverified(query.value),
    errors: unverified(errors.value),
    webhook: unverified(webhook.value),
    inbound: unverified(inbound.value),
    mtls: unverified(STANDARD.mtls.value),
    payouts: desk ? verified(name, desk.source) : unverified(null),
    name,
    title,
    ...own,
  };
}

const EFI = psp('efi', 'Efí', {
  baseUrl: {
    production: verified('https://pix.api.efipay.com.br', EFI_SDK),
    homologation: verified('https://pix-h.api.efipay.com.br', EFI_SDK),
  },
  tokenUrl: {
    production: verified('https://pix.api.efipay.com.br/oauth/token', EFI_SDK),
    homologation: verified('https://pix-h.api.efipay.com.br/oauth/token', EFI_SDK),
  },
  token: unverified(token({ contentType: 'json', scope: null })),
  prefix: verified({ all: '/v2', only: {} }, EFI_SDK),
  // Without this header Efí registers a URL only after that URL has refused a caller without Efí's certificate.
  webhookHeaders: unverified({ 'x-skip-mtls-checking': 'true' }),
  errors: unverified('nome'),
  inbound: verified({ mtls: true, addresses: null }, EFI_WEBHOOKS),
  phoneInPath: verified('plain', EFI_ENDPOINTS),
});

const BANCO_DO_BRASIL = psp('bb', 'Banco do Brasil', {
  baseUrl: {
    // Older integrations use api.bb.com.br, which requires no certificate.
    production: unverified('https://api-pix.bb.com.br'),
    homologation: verified('https://api.hm.bb.com.br', acbr('ACBrPIXPSPBancoDoBrasil')),
  },
  tokenUrl: {
    production: verified('https://oauth.bb.com.br/oauth/token', acbr('ACBrPIXPSPBancoDoBrasil')),
    homologation: verified('https://oauth.hm.bb.com.br/oauth/token', acbr('ACBrPIXPSPBancoDoBrasil')),
  },
  token: verified(token({}), acbr('ACBrPIXPSPBancoDoBrasil')),
  prefix: verified({ all: '/pix/v2', only: {} }, acbr('ACBrPIXPSPBancoDoBrasil')),
  query: verified({ 'gw-dev-app-key': '{application_key}' }, acbr('ACBrPIXPSPBancoDoBrasil')),
  errors: verified('erros', acbr('ACBrPIXPSPBancoDoBrasil')),
  mtls: verified(true, acbr('ACBrPIXPSPBancoDoBrasil')),
  variables: { application_key: 'the application key of the BB developers portal (gw-dev-app-key)' },
});

const ITAU = psp('itau', 'Itaú', {
  baseUrl: {
    production: verified('https://secure.api.itau', acbr('ACBrPIXPSPItau')),
    homologation: unverified(null),
  },
  tokenUrl: { production: unverified('https://sts.itau.com.br/api/oauth/token'), homologation: unverified(null) },
  token: verified(token({ authentication: 'body', scope: null }), acbr('ACBrPIXPSPItau')),
  prefix: verified({ all: '/pix_recebimentos/v2', only: {} }, acbr('ACBrPIXPSPItau')),
  headers: verified({ 'x-correlationID': '{uuid}' }, acbr('ACBrPIXPSPItau')),
  mtls: verified(true, ITAU_AUTHENTICATION),
});

const SICREDI = psp('sicredi', 'Sicredi', {
  baseUrl: {
    production: verified('https://api-pix.sicredi.com.br', acbr('ACBrPIXPSPSicredi')),
    homologation: verified('https://api-pix-h.sicredi.com.br', acbr('ACBrPIXPSPSicredi')),
  },
  tokenUrl: {
    production: verified('https://api-pix.sicredi.com.br/oauth/token', acbr('ACBrPIXPSPSicredi')),
    homologation: verified('https://api-pix-h.sicredi.com.br/oauth/token', acbr('ACBrPIXPSPSicredi')),
  },
  token: verified(token({}), acbr('ACBrPIXPSPSicredi')),
  prefix: verified({ all: '/api/v2', only: {} }, acbr('ACBrPIXPSPSicredi')),
});

const SICOOB = psp('sicoob', 'Sicoob', {
  baseUrl: {
    production: verified('https://api.sicoob.com.br', acbr('ACBrPIXPSPSicoob')),
    homologation: verified('https://sandbox.sicoob.com.br/sicoob/sandbox', acbr('ACBrPIXPSPSicoob')),
  },
  tokenUrl: {
    production: verified(
      'https://auth.sicoob.com.br/auth/realms/cooperado/protocol/openid-connect/token',
      acbr('ACBrPIXPSPSicoob'),
    ),
    // Sicoob's sandbox issues tokens by hand and has no token endpoint.
    homologation: unverified(null),
  },
  token: verified(token({ authentication: 'mtls' }), acbr('ACBrPIXPSPSicoob')),
  prefix: verified({ all: '/pix/api/v2', only: {} }, acbr('ACBrPIXPSPSicoob')),
  headers: verified({ client_id: '{client_id}' }, acbr('ACBrPIXPSPSicoob')),
});

const BRADESCO = psp('bradesco', 'Bradesco', {
  baseUrl: {
    production: verified('https://qrpix.bradesco.com.br', acbr('ACBrPIXPSPBradesco')),
    homologation: verified('https://qrpix-h.bradesco.com.br', acbr('ACBrPIXPSPBradesco')),
  },
  tokenUrl: {
    production: verified('https://qrpix.bradesco.com.br/oauth/token', acbr('ACBrPIXPSPBradesco')),
    homologation: verified('https://qrpix-h.bradesco.com.br/oauth/token', acbr('ACBrPIXPSPBradesco')),
  },
  token: verified(token({ scope: null }), acbr('ACBrPIXPSPBradesco')),
  prefix: verified({ all: '/v2', only: {} }, acbr('ACBrPIXPSPBradesco')),
});

const INTER = psp('inter', 'Inter', {
  baseUrl: {
    production: verified('https://cdpj.partners.bancointer.com.br', acbr('ACBrPIXPSPInter')),
    homologation: unverified('https://cdpj-sandbox.partners.uatinter.co'),
  },
  tokenUrl: {
    production: verified('https://cdpj.partners.bancointer.com.br/oauth/v2/token', acbr('ACBrPIXPSPInter')),
    homologation: unverified('https://cdpj-sandbox.partners.uatinter.co/oauth/v2/token'),
  },
  token: verified(token({ authentication: 'body' }), acbr('ACBrPIXPSPInter')),
  prefix: verified({ all: '/pix/v2', only: {} }, acbr('ACBrPIXPSPInter')),
  headers: unverified({ 'x-conta-corrente': '{conta_corrente}' }),
  webhook: unverified({ body: 'array', suffix: '/pix' }),
  optionalVariables: { conta_corrente: 'the account, digits only, of an application that serves several accounts' },
});

const SANTANDER = psp('santander', 'Santander', {
  baseUrl: {
    production: verified('https://trust-pix.santander.com.br', acbr('ACBrPIXPSPSantander')),
    homologation: verified('https://trust-pix-h.santander.com.br', acbr('ACBrPIXPSPSantander')),
  },
  tokenUrl: {
    production: verified('https://trust-pix.santander.com.br/oauth/token', acbr('ACBrPIXPSPSantander')),
    homologation: verified('https://trust-pix-h.santander.com.br/oauth/token', acbr('ACBrPIXPSPSantander')),
  },
  token: verified(token({ authentication: 'body', grantType: 'query', scope: null }), acbr('ACBrPIXPSPSantander')),
  prefix: verified({ all: '/api/v1', only: { 'cob.patch': '/api/v2' } }, acbr('ACBrPIXPSPSantander')),
});

export const PROFILES: Readonly<Record<string, PspProfile>> = Object.fromEntries(
  [STANDARD, EFI, BANCO_DO_BRASIL, ITAU, SICREDI, SICOOB, BRADESCO, INTER, SANTANDER].map((profile) => [
    profile.name,
    profile,
  ]),
);

/** @returns undefined for a name that no profile has */
export function findProfile(name: string): PspProfile | undefined {
  return Object.hasOwn(PROFILES, name) ? PROFILES[name] : undefined;
}
