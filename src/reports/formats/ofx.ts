import { saoPauloLocal } from '../../brazil/index.js';
import { type Amount, decimalText } from '../../core/money/index.js';
import { ENTRY_DESCRIPTIONS, sourceOf, walletEntryId } from '../../wallets/index.js';
import type { StatementPart, StatementRow } from '../report-rows.repository.js';
import type { ReportOrder } from '../report.entity.js';

/** OFX 1.0.2, which Brazilian accounting programs read: SGML in plain ASCII. */
const HEADER = [
  ...['OFXHEADER:100', 'DATA:OFXSGML', 'VERSION:102', 'SECURITY:NONE', 'ENCODING:USASCII', 'CHARSET:1252'],
  ...['COMPRESSION:NONE', 'OLDFILEUID:NONE', 'NEWFILEUID:NONE'],
].join('\r\n');
const STATUS = '<STATUS><CODE>0<SEVERITY>INFO</STATUS>';

/** `20261121123000[-3:BRT]`, in São Paulo's own time. */
function dateTime(at: Date): string {
  const local = saoPauloLocal(at);
  const offset = (Date.parse(`${local}Z`) - Math.floor(at.getTime() / 1000) * 1000) / 3_600_000;
  return `${local.replace(/[-:T]/g, '')}[${offset}:BRT]`;
}

export function ofxBegin({ createdAt }: ReportOrder): string {
  return (
    `${HEADER}\r\n\r\n<OFX>\r\n<SIGNONMSGSRSV1><SONRS>${STATUS}<DTSERVER>${dateTime(createdAt)}<LANGUAGE>POR` +
    `</SONRS></SIGNONMSGSRSV1>\r\n<BANKMSGSRSV1>\r\n`
  );
}

/**
 * Begins an OFX account: a bucket of a wallet. An account number may have 22 characters; a currency takes 8 of them.
 */
export function ofxAccountBegin(
  { accountId, mode, from, to }: ReportOrder,
  { currency, bucket }: StatementPart,
): string {
  const bank = mode === 'live' ? 'RECEBE' : 'RECEBETST';
  const account = `${accountId.slice(-12)}${bucket.slice(0, 1).toUpperCase()}-${currency}`;
  return (
    `<STMTTRNRS><TRNUID>${currency}-${bucket}${STATUS}<STMTRS><CURDEF>${currency}\r\n` +
    `<BANKACCTFROM><BANKID>${bank}<ACCTID>${account}<ACCTTYPE>CHECKING</BANKACCTFROM>\r\n` +
    `<BANKTRANLIST><DTSTART>${dateTime(from)}<DTEND>${dateTime(to)}\r\n`
  );
}

export function ofxLine(row: StatementRow): string {
  const memo = [sourceOf(row.cause)?.id, row.endToEndId].filter((part) => part != null).join(' ');
  return (
    `<STMTTRN><TRNTYPE>${row.amount < 0 ? 'DEBIT' : 'CREDIT'}<DTPOSTED>${dateTime(row.createdAt)}` +
    `<TRNAMT>${decimalText(row.amount, row.currency)}<FITID>${walletEntryId(row)}<NAME>${ENTRY_DESCRIPTIONS[row.type].slice(0, 32)}` +
    `${memo === '' ? '' : `<MEMO>${memo}`}</STMTTRN>\r\n`
  );
}

/** @param balance balance after the last line */
export function ofxAccountEnd({ to, createdAt }: ReportOrder, { currency }: StatementPart, balance: Amount): string {
  return (
    `</BANKTRANLIST><LEDGERBAL><BALAMT>${decimalText(balance, currency)}<DTASOF>${dateTime(to < createdAt ? to : createdAt)}</LEDGERBAL>` +
    `</STMTRS></STMTTRNRS>\r\n`
  );
}

export const OFX_END = '</BANKMSGSRSV1>\r\n</OFX>\r\n';
