import { bilingualMail, utcTime } from '../../core/mail/index.js';
import type { Mode } from '../../core/mode.js';

/** Tells an account's contact, in Portuguese and English, that the service has given an endpoint up. */
export function disabledMail(endpoint: {
  id: string;
  url: string;
  failures: number;
  failingSince: Date;
  lastError: string;
  mode: Mode;
}): ReturnType<typeof bilingualMail> {
  const since = utcTime(endpoint.failingSince);
  const path = `/v1/webhooks/endpoints/wh_${endpoint.id}`;
  const portuguese = [
    'Seu endpoint de webhooks foi desativado: ele não aceita nenhuma entrega há mais de cinco dias.',
    `Endereço: ${endpoint.url}`,
    `Sem sucesso desde: ${since} (${endpoint.failures} tentativas)`,
    `Último erro: ${endpoint.lastError}`,
    'As entregas pendentes foram canceladas e nada mais é enviado a esse endereço. Quando ele voltar a funcionar:',
    `1. Reative o endpoint: PATCH ${path} com {"status": "ACTIVE"}`,
    `2. Receba o que faltou, no estado atual: POST ${path}/recover com {"since": "${endpoint.failingSince.toISOString()}"}`,
    'O que aconteceu enquanto o endpoint esteve desativado não gerou entregas: leia com GET /v1/events e created_after.',
  ];
  const english = [
    'Your webhook endpoint has been disabled: it has not accepted a single delivery for more than five days.',
    `Address: ${endpoint.url}`,
    `No success since: ${since} (${endpoint.failures} attempts)`,
    `Last error: ${endpoint.lastError}`,
    'Pending deliveries were cancelled, and nothing more is sent to that address. Once it works again:',
    `1. Switch the endpoint on: PATCH ${path} with {"status": "ACTIVE"}`,
    `2. Get what was missed, as it stands now: POST ${path}/recover with {"since": "${endpoint.failingSince.toISOString()}"}`,
    'What happened while the endpoint was disabled made no deliveries: read it with GET /v1/events and created_after.',
  ];
  return bilingualMail({
    mode: endpoint.mode,
    subject: 'Webhooks desativados / Webhooks disabled',
    portuguese,
    english,
  });
}
