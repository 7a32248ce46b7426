/** BR Code, reading side: strict, because a code that only some apps can pay is worse than none. */
import {
  CITY_MAX,
  INFO_MAX,
  KEY_MAX,
  NAME_MAX,
  NO_TXID,
  PAYLOAD_MAX,
  PIX_GUI,
  TXID_MAX,
  isBrCodeTxid,
  isPixKey,
  locationFault,
  readAmount,
} from './br-code.rules.js';
import {
  BrCodeError,
  type BrCode,
  type BrCodeErrorCode,
  type BrCodeLevel,
  type BrCodeViolation,
} from './br-code.types.js';
import { crc16, readTlv } from './tlv.js';

/** The result of `checkBrCode`. A higher level includes the lower ones. */
export interface BrCodeCheck {
  /** Character set, TLV (templates included) and CRC are right. */
  readonly wellFormed: boolean;
  /** Well-formed, and obeys the mandatory rules of a Pix BR Code. */
  readonly valid: boolean;
  /** Valid, and obeys the Pix manuals' rules for key and txid: only these codes pass `parseBrCode`. */
  readonly strictValid: boolean;
  /** Violations, envelope faults first. An envelope fault stands alone, because nothing behind it can be read. */
  readonly violations: readonly BrCodeViolation[];
}

/**
 * Reads a "copia e cola" text. Throws a BrCodeError with the first violation when it is not strictly valid;
 * surrounding blanks are not trimmed.
 */
export function parseBrCode(payload: string): BrCode {
  const { code, violations } = read(payload);
  const [first] = violations;
  if (first !== undefined) throw new BrCodeError(first.code, first.message, first.level);
  if (code === null) throw new TypeError('a BR Code without violations must have been read');
  return code;
}

/** Checks how right a payload is, and lists its violations; never throws. */
export function checkBrCode(payload: string): BrCodeCheck {
  const { violations } = read(payload);
  const has = (level: BrCodeLevel): boolean => violations.some((violation) => violation.level === level);
  const wellFormed = !has('envelope');
  const valid = wellFormed && !has('rule');
  return { wellFormed, valid, strictValid: valid && !has('strict'), violations };
}

type Objects = ReadonlyMap<string, string>;
type Report = (code: BrCodeErrorCode, message: string, level?: BrCodeLevel) => void;

interface Envelope {
  readonly root: Objects;
  readonly templates: ReadonlyMap<string, Objects>;
}

function read(payload: string): { code: BrCode | null; violations: BrCodeViolation[] } {
  const violations: BrCodeViolation[] = [];
  const report: Report = (code, message, level = 'rule') => violations.push({ level, code, message });
  const envelope = readEnvelope(payload, report);
  const code = envelope === null ? null : readPix(envelope, report);
  return { code, violations };
}

/** 26 to 51 merchant account, 62 additional data, 64 language, 80 to 99 unreserved (EMV QRCPS-MPM, table 3.4). */
function isTemplate(id: string): boolean {
  return (id >= '26' && id <= '51') || id === '62' || id === '64' || id >= '80';
}

function readEnvelope(payload: string, report: Report): Envelope | null {
  const refuse = (code: BrCodeErrorCode, message: string): null => {
    report(code, message, 'envelope');
    return null;
  };
  if (payload.length > PAYLOAD_MAX) return refuse('too_long', `a BR Code has at most ${PAYLOAD_MAX} characters`);
  // Beyond ASCII some readers count bytes and some characters: the same text would split into different objects.
  if (!/^[\x20-\x7e]*$/.test(payload)) return refuse('not_ascii', 'a BR Code holds printable ASCII only');
  if (payload.slice(-8, -4) !== '6304') return refuse('crc_missing', 'a BR Code ends in object 63, its CRC');
  // Upper case only: if ad38 counted as AD38, a text could be changed without the CRC noticing.
  if (payload.slice(-4) !== crc16(payload.slice(0, -4))) {
    return refuse('crc_mismatch', 'the CRC does not match: the code was cut or changed, copy it again');
  }
  const outer = readTlv(payload);
  if ('fault' in outer) return refuse('tlv_malformed', `at ${outer.fault.offset}: ${outer.fault.message}`);
  if (outer.objects.at(-1)?.id !== '63') return refuse('crc_missing', 'object 63 must be the last one');
  const root = new Map(outer.objects.map((object) => [object.id, object.value]));
  const templates = new Map<string, Objects>();
  for (const { id, value } of outer.objects) {
    if (!isTemplate(id)) continue;
    const inner = readTlv(value);
    if ('fault' in inner) {
      return refuse('tlv_malformed', `in template ${id} at ${inner.fault.offset}: ${inner.fault.message}`);
    }
    templates.set(id, new Map(inner.objects.map((object) => [object.id, object.value])));
  }
  if (outer.objects[0]?.id !== '00' || root.get('00') !== '01') {
    report('format_invalid', 'object 00 must come first and hold 01');
  }
  return { root, templates };
}

function readPix({ root, templates }: Envelope, report: Report): BrCode | null {
  const initiation = root.get('01');
  if (initiation !== undefined && initiation !== '11' && initiation !== '12') {
    report('initiation_invalid', 'object 01 must be 11 (reusable) or 12 (to be paid once)');
  }
  const account = pixTemplate(templates, '26', '51', report);
  if (account === null) report('gui_missing', `no template 26 to 51 carries the GUI ${PIX_GUI}`);
  const recurrenceLocation = readRecurrence(templates, report);

  const category = root.get('52') ?? '';
  if (!/^[0-9]{4}$/.test(category)) report('category_invalid', 'object 52 (category) must be four digits');
  if (root.get('53') !== '986') report('currency_invalid', 'object 53 (currency) must be 986, the real');
  if (root.get('58') !== 'BR') report('country_invalid', 'object 58 (country) must be BR');
  const common = {
    merchantName: boundedText(root.get('59'), NAME_MAX, 'name_invalid', 'object 59 (name)', report),
    merchantCity: boundedText(root.get('60'), CITY_MAX, 'city_invalid', 'object 60 (city)', report),
    merchantCategoryCode: category,
    postalCode: root.get('61') ?? null,
    amount: readAmountObject(root.get('54'), account?.has('03') === true, report),
    txid: readTxid(templates.get('62'), report),
    singleUse: initiation === '12',
  };
  if ((common.postalCode ?? '').length > 10) {
    report('postal_code_invalid', 'object 61 (postal code) has at most 10 characters');
  }
  return account === null ? null : readAccount(account, common, recurrenceLocation, report);
}

function readAccount(
  account: Objects,
  common: Omit<Extract<BrCode, { kind: 'recurrence' }>, 'kind' | 'recurrenceLocation'>,
  recurrenceLocation: string | null,
  report: Report,
): BrCode | null {
  const key = account.get('01');
  const location = account.get('25');
  const facilitator = account.get('03') ?? null;
  const info = account.get('02') ?? null;
  if (key !== undefined && location !== undefined) {
    // Some apps would pay the key, others the charge behind the location.
    report('key_and_location', 'template 26 must carry a key (01) or a location (25), not both');
    return null;
  }
  if (info !== null && info.length > INFO_MAX)
    report('info_too_long', `object 26-02 has at most ${INFO_MAX} characters`);
  if (facilitator !== null && (key === undefined || !/^[0-9]{8}$/.test(facilitator))) {
    report('withdrawal_invalid', 'object 26-03 (Pix Saque) is an ISPB of 8 digits and stands beside a key only');
  }
  if (location !== undefined) {
    const fault = locationFault(location);
    if (fault !== null) report(fault.code, fault.message);
    return { ...common, kind: 'dynamic', location, recurrenceLocation };
  }
  if (key !== undefined) {
    if (key.length > KEY_MAX) report('key_too_long', `object 26-01 (key) has at most ${KEY_MAX} characters`);
    else if (!isPixKey(key)) report('key_invalid', 'object 26-01 is not a Pix key as DICT stores it', 'strict');
    return { ...common, kind: 'static', key, info, withdrawalFacilitator: facilitator, recurrenceLocation };
  }
  if (recurrenceLocation === null) {
    report('key_or_location_missing', 'template 26 must carry a key (01) or a location (25)');
    return null;
  }
  return { ...common, kind: 'recurrence', recurrenceLocation };
}

/** The only template between two ids that carries the Pix GUI; others belong to other arrangements and are skipped. */
function pixTemplate(templates: Envelope['templates'], from: string, to: string, report: Report): Objects | null {
  const found = [...templates].filter(
    ([id, objects]) => id >= from && id <= to && objects.get('00')?.toLowerCase() === PIX_GUI,
  );
  if (found.length > 1) report('gui_repeated', `only one template ${from} to ${to} may carry the GUI ${PIX_GUI}`);
  return found[0]?.[1] ?? null;
}

/** Pix Automático, Manual de Padrões para Iniciação do Pix: template 80 to 99 with the GUI and the location in 25. */
function readRecurrence(templates: Envelope['templates'], report: Report): string | null {
  const template = pixTemplate(templates, '80', '99', report);
  if (template === null) return null;
  const location = template.get('25') ?? '';
  const fault = locationFault(location);
  if (fault !== null) report(fault.code, `recurrence: ${fault.message}`);
  return location;
}

function boundedText(
  value: string | undefined,
  max: number,
  code: BrCodeErrorCode,
  label: string,
  report: Report,
): string {
  const text = value ?? '';
  if (text.trim() === '' || text.length > max) report(code, `${label} must have 1 to ${max} characters`);
  return text;
}

/** Zero is an amount only for Pix Saque, where the payer chooses it at the counter. */
function readAmountObject(value: string | undefined, isWithdrawal: boolean, report: Report): number | null {
  if (value === undefined) return null;
  const cents = readAmount(value);
  if (cents === null)
    report('amount_invalid', 'object 54 (amount) must be digits with a point and two decimals at most');
  else if (cents === 0 && !isWithdrawal) report('amount_invalid', 'object 54 (amount) must be above zero');
  return cents;
}

function readTxid(additional: Objects | undefined, report: Report): string | null {
  const txid = additional?.get('05');
  if (txid === undefined) {
    report('txid_missing', 'object 62-05 (txid) is missing: *** stands for none', 'strict');
    return null;
  }
  if (txid.length > TXID_MAX) report('txid_too_long', `object 62-05 (txid) has at most ${TXID_MAX} characters`);
  else if (!isBrCodeTxid(txid))
    report('txid_invalid', 'object 62-05 (txid) holds letters and digits, or ***', 'strict');
  return txid === NO_TXID ? null : txid;
}
