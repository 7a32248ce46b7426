/** The rights of a person in an account. */
export type Role = 'OWNER' | 'ADMIN' | 'MEMBER';
