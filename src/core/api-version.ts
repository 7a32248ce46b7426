/** The version of docs/contract.md: in canonical events and in the X-Api-Version header. */
export const API_VERSION = '2026-11-01';
