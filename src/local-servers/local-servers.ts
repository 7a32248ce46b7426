import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createPrivate, readIfThere, writePrivate } from '../core/private-files.js';
import { identify } from '../core/process-identity.js';
import { type ChildServer, endProcess, type Restarts, STOP_SIGNALS } from './child-server.js';
import { LocalServerError } from './local-servers.errors.js';
import { startPostgres } from './postgres.js';
import { startRedis } from './redis.js';
import { prepareDataDir } from './server-user.js';

interface Addresses {
  postgres: { url: string; serviceUrl: string } | null;
  /** Null if there is no Redis on the PATH. */
  redis: { url: string } | null;
}
type ServerName = keyof Addresses;

/** Addresses, with `release` and `stop` for the servers that this process owns. */
export type LocalServers = Addresses & Pick<ChildServer, 'release' | 'stop'>;

export interface LocalServersOptions {
  dataDir: string;
  needs: Record<ServerName, boolean>;
  /** Uses the servers of a running service; otherwise a second service is refused. */
  joins: boolean;
  /** Lets other processes use the servers; otherwise they wait until this process has ended. */
  shares: boolean;
  restarts?: Restarts | undefined;
}

interface ProcessId {
  pid: number;
  startedAt: string | null;
}

/** `$DATA_DIR/local-servers.json`: the owner's lock, with the data to use or end its servers. */
interface OwnerFile {
  id: string;
  /** Device and inode of the directory: a copied directory invalidates the file. */
  directory: string;
  owner: ProcessId;
  children: Partial<Record<ServerName, ProcessId>>;
  /** Null while the servers start or stop, and if they are not shared. */
  addresses: Addresses | null;
}

const NOBODY: OwnerFile = { id: '', directory: '', owner: { pid: 0, startedAt: null }, children: {}, addresses: null };
const WAIT_LIMIT_MS = 60_000;
/** Time in which several processes that take over a lock at once find out which was last. */
const TAKEOVER_MS = 300;

/** Starts the servers of a data directory as children of this process, or joins those of a running service. */
export async function openLocalServers(options: LocalServersOptions): Promise<LocalServers> {
  const { needs, restarts } = options;
  const { dataDir } = prepareDataDir(options.dataDir);
  const file = await lock(dataDir, options.joins);
  if (file.addresses?.postgres === null && needs.postgres) {
    throw new LocalServerError(`The service in ${dataDir} has another database: set DATABASE_URL as it is set there.`);
  }
  if (file.addresses) return { ...file.addresses, release: () => undefined, stop: () => Promise.resolve() };
  const servers: ChildServer[] = [];
  const stop = async (): Promise<void> => {
    file.addresses = null;
    if (readOwner(dataDir)?.id === file.id) writeOwner(dataDir, file);
    await Promise.all(servers.map((server) => server.stop()));
    if (readOwner(dataDir)?.id === file.id) rmSync(pathOf(dataDir), { force: true });
  };
  const optionsOf = (name: ServerName): Parameters<typeof startRedis>[0] => {
    const onLaunch = (pid: number): void => {
      file.children[name] = { pid, startedAt: identify(pid) };
      writeOwner(dataDir, file);
    };
    return { dataDir, restarts, onLaunch };
  };
  try {
    await endOrphans(file);
    const starts = [
      needs.postgres ? startPostgres(optionsOf('postgres')) : Promise.resolve(null),
      needs.redis ? startRedis(optionsOf('redis')) : Promise.resolve(null),
    ] as const;
    const ends = await Promise.allSettled(starts); // if one of them fails, the other one is stopped all the same
    servers.push(...ends.flatMap((end) => (end.status === 'fulfilled' && end.value ? [end.value] : [])));
    const [postgres, redis] = await Promise.all(starts);
    const addresses: Addresses = {
      postgres: postgres && { url: postgres.url, serviceUrl: postgres.serviceUrl },
      redis: redis && { url: redis.url },
    };
    if (options.shares) writeOwner(dataDir, Object.assign(file, { addresses }));
    return { ...addresses, stop, release: () => servers.forEach((server) => server.release()) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws LocalServerError if a service shares its servers of the directory */
export function refuseSecondService(dataDir: string): void {
  const holder = readOwner(dataDir);
  if (!holder?.addresses || !isAlive(holder.owner)) return;
  throw new LocalServerError(
    `Recebe already runs on the data in ${dataDir} (process ${String(holder.owner.pid)}). Stop it first, or start this ` +
      'one on data of its own: DATA_DIR=./other-data PORT=3001 npm start. For several processes on the same data start ' +
      'it with CLUSTER=2, or set DATABASE_URL and REDIS_URL.',
  );
}

/**
 * Locks the directory for this process. A lock whose owner was killed is taken over.
 * @returns the file of this process, without addresses; if `joins`, perhaps that of a service, with its addresses
 */
async function lock(dataDir: string, joins: boolean): Promise<OwnerFile> {
  const owner = { pid: process.pid, startedAt: identify(process.pid) };
  for (const deadline = Date.now() + WAIT_LIMIT_MS; ; await delay(100)) {
    const mine: OwnerFile = { ...NOBODY, id: randomUUID(), directory: identityOf(dataDir), owner, children: {} };
    const holder = readOwner(dataDir);
    if (holder === null) {
      if (createPrivate(pathOf(dataDir), JSON.stringify(mine))) return mine;
    } else if (!isAlive(holder.owner)) {
      mine.children = holder.children;
      takeOver(dataDir, mine, holder.id);
      await delay(TAKEOVER_MS);
      if (readOwner(dataDir)?.id === mine.id) return mine;
    } else if (holder.addresses) {
      if (joins) return holder;
      refuseSecondService(dataDir);
    } else if (Date.now() > deadline) {
      throw new LocalServerError(
        `Process ${String(holder.owner.pid)} has kept the data in ${dataDir} to itself for a minute: a command at work, ` +
          'or a service that starts or stops. Try again when it has ended.',
      );
    }
  }
}

function takeOver(dataDir: string, mine: OwnerFile, from: string): void {
  const draft = `${pathOf(dataDir)}.${mine.id}`;
  writePrivate(draft, JSON.stringify(mine)); // this may take long, so the lock is looked at once more after it
  if (readOwner(dataDir)?.id === from) renameSync(draft, pathOf(dataDir));
  else rmSync(draft);
}

/** Ends the servers that a killed owner has left behind. */
async function endOrphans(file: OwnerFile): Promise<void> {
  for (const [name, child] of Object.entries(file.children) as [ServerName, ProcessId][]) {
    await endProcess(child.pid, STOP_SIGNALS[name], () => isAlive(child));
  }
  file.children = {};
}

function pathOf(dataDir: string): string {
  return join(dataDir, 'local-servers.json');
}

function writeOwner(dataDir: string, file: OwnerFile): void {
  writePrivate(pathOf(dataDir), `${JSON.stringify(file, null, 2)}\n`);
}

/** Returns null if there is no file, NOBODY for a broken file or that of a copied directory. */
function readOwner(dataDir: string): OwnerFile | null {
  const text = readIfThere(pathOf(dataDir));
  if (text === null) return null;
  try {
    const file = JSON.parse(text) as OwnerFile;
    return file.directory === identityOf(dataDir) ? file : NOBODY;
  } catch {
    return NOBODY;
  }
}

function identityOf(dataDir: string): string {
  const { dev, ino } = statSync(dataDir, { bigint: true });
  return `${String(dev)}:${String(ino)}`;
}

function isAlive({ pid, startedAt }: ProcessId): boolean {
  return startedAt !== null && identify(pid) === startedAt;
}
