// Loaded with `node --import` into Jest and its workers: they import TypeScript as Node.js itself would.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
