import { Baseline1700000010000 } from './0001-baseline.js';

/** In the order in which they are applied. */
export const MIGRATIONS = [Baseline1700000010000];
