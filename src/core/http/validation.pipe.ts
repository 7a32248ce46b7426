import { type ArgumentMetadata, Body, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import { validate, type ValidationError } from 'class-validator';
import { Draft, invalidRequest, type Violation } from '../errors/index.js';
import { JsonBody } from './body.js';
import { Found, INEXACT, mended, scanQuery } from './json-scan.js';
import { fieldsOf, instantiate } from './nested.decorator.js';
import { readTexts } from './query-fields.js';

/**
 * Validates bodies and queries against their DTO; every violation is listed at once. Unknown fields are
 * violations: a misspelt `expected_payer_tax_id` must never silently drop a payer lock (docs/contract.md#unknown-and-malformed-input).
 */
@Injectable()
export class ValidationPipe implements PipeTransform {
  async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const type = metadata.metatype as (new () => object) | undefined;
    if ((metadata.type !== 'body' && metadata.type !== 'query') || !type || type === (Object as unknown)) return value;
    // Read by @DraftBody, which knows its DTO.
    if (type === (Draft as unknown)) return value;
    return (await readDraft(type, value, metadata.type === 'query')).accept();
  }
}

/**
 * The body as a draft, for a handler whose service has rules beyond the DTO's: nothing but unreadable JSON is refused
 * before it is called.
 */
export function DraftBody<T extends object>(type: new () => T): ParameterDecorator {
  const pipe: PipeTransform<unknown, Promise<Draft<T>>> = { transform: (value) => readDraft(type, value) };
  return (target, method, index) => {
    Body(pipe)(target, method, index);
    const descriptor = method === undefined ? undefined : Object.getOwnPropertyDescriptor(target, method);
    if (method === undefined || !descriptor) throw new TypeError('@DraftBody is for parameters of methods');
    ApiBody({ type })(target, method, descriptor);
  };
}

/** @throws ApiError 400 for what no rule can be asked about safely */
async function readDraft<T extends object>(type: new () => T, sent: unknown, isQuery = false): Promise<Draft<T>> {
  const { value, found } = sent instanceof JsonBody ? sent : new JsonBody(sent ?? {}, scanQuery(sent ?? {}));
  if (found.hasForbiddenKey) throw invalidRequest(found.named, found.unnamed);
  const unknown = new Found();
  const dto = instantiate(type, found.named.length > 0 ? mended(value) : value, unknown);
  if (isQuery) readTexts(type, dto);
  const fields = [...fieldsOf(type)];
  const inexact = found.named.filter(({ code, param }) => code === INEXACT.code && fields.includes(param));
  // The field's own rule then says what it must be: "send it as a text" would be wrong advice for an amount.
  for (const { param } of inexact) Reflect.set(dto, param, Number.NaN);
  const errors = await validate(dto, {
    forbidUnknownValues: false,
    validationError: { target: false, value: false },
  });
  const violations = flatten(errors, '');
  const messageOf = (param: string): string | undefined =>
    violations.find((violation) => violation.param === param)?.message;
  const named = found.named.map((one) => {
    const message = inexact.includes(one) ? messageOf(one.param) : undefined;
    return message === undefined ? one : { ...one, message };
  });
  return new Draft(dto, {
    sound: soundPart(dto, errors),
    fields,
    ofFields: violations.filter(({ param }) => !named.some((other) => other.param === param)),
    ofBody: [...unknown.named, ...named],
    unnamed: unknown.unnamed + found.unnamed,
  });
}

/** A copy without the fields that broke a rule, wherever they are. */
function soundPart<T extends object>(value: T, errors: readonly ValidationError[]): Partial<T> {
  const part: Partial<Record<string, unknown>> = { ...value };
  for (const { property, constraints, children } of errors) {
    const inner = part[property];
    if (!constraints && children && inner !== null && typeof inner === 'object') {
      part[property] = soundPart(inner, children);
    } else {
      Reflect.deleteProperty(part, property);
    }
  }
  return part as Partial<T>;
}

function flatten(errors: readonly ValidationError[], path: string): Violation[] {
  return errors.flatMap((error) => {
    const param = (path === '' ? error.property : `${path}.${error.property}`).slice(0, 200);
    // Rules that say the same (an integer, at least 1, at most 9: one text) are one violation to who reads it.
    const own = Object.entries(error.constraints ?? {})
      .map(([rule, message]) => ({ param, code: codeOf(rule), message }))
      .filter(({ message }, index, all) => all.findIndex((other) => other.message === message) === index);
    // A missing field breaks each of its rules; saying so once is clearer.
    const required = own.find((violation) => violation.code === 'required');
    return [...(required ? [required] : own), ...flatten(error.children ?? [], param)];
  });
}

function codeOf(rule: string): string {
  return rule === 'isDefined' ? 'required' : 'invalid';
}
