export { migrateAs, openRuntime, type Runtime } from './runtime.js';

/** Runs the service in this process, which the service ends. */
export async function startService(): Promise<never> {
  await import('./main.js');
  return new Promise(() => undefined);
}
