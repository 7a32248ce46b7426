import { dictionary } from '@zxcvbn-ts/language-common';

/** The passwords that are tried first, in small letters. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(dictionary['passwords-common'].map(String));
