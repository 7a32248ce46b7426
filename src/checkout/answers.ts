import type { Request, Response } from 'express';
import { ApiError } from '../core/errors/index.js';
import { pageHeaders } from './checkout.csp.js';
import type { Page } from './checkout.layout.js';
import { type Language, LANGUAGES } from './checkout.texts.js';

/** Mobile networks share one address among many payers, and an open page polls its status. */
export const PAYERS_PER_ADDRESS = 10;

/** Content of a picture's answer in the OpenAPI document. */
export const PICTURE_CONTENT = Object.fromEntries(
  ['image/png', 'image/jpeg', 'image/webp'].map((type) => [type, { schema: { type: 'string', format: 'binary' } }]),
);

/** Headers of a merchant's picture, beside its type. */
export const PICTURE_HEADERS = { 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' };

export const LANG = {
  name: 'lang',
  required: false,
  description: 'Language of the page, in place of the browser’s.',
  schema: { type: 'string' as const, enum: [...LANGUAGES] },
};

/** Returns the language chosen on the page, else the browser's preference; Portuguese for all other languages. */
function languageOf(request: Request): Language {
  const chosen = LANGUAGES.find((language) => language === request.query['lang']);
  return chosen ?? (request.acceptsLanguages([...LANGUAGES]) === 'en' ? 'en' : 'pt');
}

/**
 * Sends a page instead of JSON, also for a 404: a payer reads it, not a program.
 * @param notFound makes the page for an unknown address
 */
export async function send(
  request: Request,
  response: Response,
  notFound: (language: Language) => Page,
  make: (language: Language) => Promise<Page>,
): Promise<string> {
  const language = languageOf(request);
  const made = await make(language).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    response.status(404);
    return notFound(language);
  });
  response.set(pageHeaders(made));
  return made.html;
}
