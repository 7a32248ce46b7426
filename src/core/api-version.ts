/** The contract's version (decisions §3.1): in canonical events and in the X-Api-Version header. */
export const API_VERSION = '2026-11-01';
