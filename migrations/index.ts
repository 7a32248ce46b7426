import { Initial1700000000000 } from './1700000000000-initial.js';

/** In the order in which they are applied. */
export const MIGRATIONS = [Initial1700000000000];
