export { columnsOf, insertAllInto, insertInto, nullsOf, updateOf } from './columns.js';
export * from './data-source.js';
export * from './database.js';
export * from './migrate.js';
export * from './pg-errors.js';
export * from './row-buffer.js';
export { read, type ReadStatement, type Statement, write, type WriteStatement } from './statement.js';
export { TurnBatch } from './turn-batch.js';
export { Tx } from './tx.js';
