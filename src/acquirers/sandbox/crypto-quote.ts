import { createHash } from 'node:crypto';

export interface CryptoQuote {
  readonly currency: 'BTC' | 'USDT';
  readonly network: 'BITCOIN_TESTNET' | 'TRON_TESTNET';
  /** Decimal, exact; rounded up, so that the merchant never gets less than the amount. */
  readonly amount: string;
}

/** Smallest units of one unit. */
const DECIMALS = { BTC: 8, USDT: 2 } as const;
/** JSON numbers keep 15 digits exactly, so the shown amount equals the stored one. */
const MAX_DIGITS = 15;

/**
 * Cents of a currency for 1 USDT. The rates are fixed, and so not real, on purpose: a test gets the same amount every
 * time.
 */
const CENTS_PER_USDT = new Map(Object.entries({ USD: 100, USDT: 100, USDC: 100, EUR: 90, BRL: 550 }));

/**
 * Amount that a payer of the sandbox has to send.
 * @param amount in the smallest unit: satoshis for BTC, cents for the others
 * @returns null for a currency without a rate
 */
export function quote(amount: number, currency: string): CryptoQuote | null {
  if (currency === 'BTC') {
    return { currency: 'BTC', network: 'BITCOIN_TESTNET', amount: decimal(BigInt(amount), DECIMALS.BTC) };
  }
  const rate = CENTS_PER_USDT.get(currency);
  if (rate === undefined) return null;
  const units = (BigInt(amount) * 10n ** BigInt(DECIMALS.USDT) + BigInt(rate) - 1n) / BigInt(rate);
  return { currency: 'USDT', network: 'TRON_TESTNET', amount: decimal(units, DECIMALS.USDT) };
}

/**
 * Makes an address from `seed` with a valid checksum, so that wallets accept it, but nobody has its key. Only test
 * networks: money sent to it is lost.
 */
export function addressFor(network: CryptoQuote['network'], seed: string): string {
  const hash = createHash('sha256').update(seed, 'utf8').digest().subarray(0, 20);
  return network === 'BITCOIN_TESTNET' ? bech32('tb', hash) : base58Check(Buffer.concat([Buffer.from([0x41]), hash]));
}

function decimal(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  if (digits.length > MAX_DIGITS) throw new RangeError(`an amount has at most ${MAX_DIGITS} digits`);
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const sha256 = (data: Buffer): Buffer => createHash('sha256').update(data).digest();

/** Base58Check: the payload and the first four bytes of its double SHA-256. TRON: 0x41 and 20 bytes. */
function base58Check(payload: Buffer): string {
  const bytes = Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]);
  let number = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; number > 0n; number /= 58n) text = `${BASE58[Number(number % 58n)]}${text}`;
  return text;
}

const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const GENERATOR = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** A pay-to-witness-public-key-hash address. Sources: BIP 173, BIP 141. */
function bech32(prefix: string, hash: Buffer): string {
  const bits = [...hash].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const data = [0, ...(bits.match(/.{5}/g) ?? []).map((group) => Number.parseInt(group, 2))];
  const expanded = [
    ...[...prefix].map((character) => character.charCodeAt(0) >> 5),
    0,
    ...[...prefix].map((character) => character.charCodeAt(0) & 31),
  ];
  const check = polymod([...expanded, ...data, 0, 0, 0, 0, 0, 0]) ^ 1;
  const checksum = [0, 1, 2, 3, 4, 5].map((index) => (check >> (5 * (5 - index))) & 31);
  return `${prefix}1${[...data, ...checksum].map((value) => BECH32[value]).join('')}`;
}

function polymod(values: readonly number[]): number {
  let check = 1;
  for (const value of values) {
    const top = check >>> 25;
    check = ((check & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of GENERATOR.entries()) if ((top >> bit) & 1) check ^= generator;
  }
  return check;
}
