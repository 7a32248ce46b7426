import { randomUUID } from 'node:crypto';
import { constants, createReadStream, type ReadStream } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { conflict } from '../core/errors/index.js';
import { keepOwner } from '../core/private-files.js';
import { isUuid } from '../core/ids.js';
import type { DiskLinks } from './disk-links.js';
import { type Download, ObjectStorage, type StoredObject, type Upload } from './object-storage.js';
import { withStore } from './storage.errors.js';

/** Files in the directory of a key: the last upload, and the marker that the upload is closed. */
const UPLOAD = 'upload';
const CLOSED = 'closed';
/** Directory of running uploads, beside the directories of the keys. */
const INCOMING = '.incoming';
/** A draft that was not written to for this long is abandoned. */
const INCOMING_LIMIT_MS = 3600_000;

/** The sender hung up before sending the agreed number of bytes. No part of the upload is kept. */
export class UploadBrokenOff extends Error {
  override readonly name = 'UploadBrokenOff';
}

/** Files in a directory of ours: `<key>/<name>`, both UUIDs, so that no path contains text of a user. */
export class DiskStorage extends ObjectStorage {
  /** Bytes that this process is writing now; some of them are on the disk already. */
  #setAside = 0;

  constructor(
    private readonly directory: string,
    private readonly links: DiskLinks,
    private readonly minFree: number,
  ) {
    super();
  }

  override async uploadUrl(upload: Upload, seconds: number): Promise<string> {
    return this.links.upload(upload, seconds);
  }

  override async downloadUrl(download: Download, seconds: number): Promise<string> {
    return this.links.download(download, seconds);
  }

  /**
   * Writes an upload as it comes in, in constant memory. The draft is written elsewhere first, so that the final file
   * is complete or absent. A previous upload under the key is replaced.
   * @param body exactly `upload.size` bytes
   * @throws UploadBrokenOff; ApiError 409 `upload_closed` once the key is closed; StorageUnavailable
   */
  async receive(upload: Upload, body: Readable): Promise<void> {
    await this.#refuseClosed(upload.key);
    const draft = join(this.directory, INCOMING, randomUUID());
    try {
      await this.#assertRoom(upload.size);
      await this.#writeDraft(draft, wholeOf(body, upload.size));
      await this.#refuseClosed(upload.key);
      await withStore(async () => {
        await this.#makeDirectory(upload.key);
        await rename(draft, this.#path(upload.key, UPLOAD));
      });
    } finally {
      await rm(draft, { force: true });
    }
  }

  /** The file behind a download; null when it is gone. */
  async read(name: string): Promise<{ stream: ReadStream; size: number } | null> {
    const path = this.#pathOf(name);
    const size = await withStore(() => sizeOf(path));
    return size === null ? null : { stream: createReadStream(path), size };
  }

  override async take(key: string): Promise<StoredObject | null> {
    const id = randomUUID();
    const path = this.#path(key, id);
    const size = await withStore(() => sizeOf(this.#path(key, UPLOAD)));
    if (size === null) return null;
    const copy = async (): Promise<StoredObject | null> => {
      try {
        await copyFile(this.#path(key, UPLOAD), path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
      keepOwner(path);
      // Flushed before a row says that the file exists: the file, its name, and the name of its directory.
      for (const entry of [path, join(this.directory, key), this.directory]) await flush(entry);
      return { name: `${key}/${id}`, size: (await stat(path)).size };
    };
    return this.#withRoom(size, () => withStore(copy));
  }

  override async write(key: string, chunks: AsyncIterable<Buffer>): Promise<StoredObject> {
    await this.#assertRoom();
    const draft = join(this.directory, INCOMING, randomUUID());
    const id = randomUUID();
    try {
      const size = await this.#writeDraft(draft, chunks);
      await withStore(async () => {
        await this.#makeDirectory(key);
        await rename(draft, this.#path(key, id));
        for (const entry of [join(this.directory, key), this.directory]) await flush(entry);
      });
      return { name: `${key}/${id}`, size };
    } finally {
      await rm(draft, { force: true });
    }
  }

  override async firstBytes(name: string, count: number): Promise<Buffer> {
    return withStore(async () => {
      const file = await open(this.#pathOf(name), 'r');
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    });
  }

  override async close(key: string, keep: string | null): Promise<void> {
    const directory = join(this.directory, uuid(key));
    await withStore(async () => {
      if (keep === null) {
        // Repeated if a file has come into the directory meanwhile: a concurrent call may be making a copy.
        await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
        return;
      }
      await writeFile(join(directory, CLOSED), '', { mode: 0o600 });
      keepOwner(join(directory, CLOSED));
      const kept = [CLOSED, basename(keep)];
      const others = (await readdir(directory)).filter((name) => !kept.includes(name));
      for (const name of others) await rm(join(directory, name), { force: true });
    });
  }

  override async remove(name: string): Promise<void> {
    await withStore(() => rm(this.#pathOf(name), { force: true }));
  }

  override async check(): Promise<void> {
    await withStore(async () => {
      await this.#makeDirectory(INCOMING);
      await access(join(this.directory, INCOMING), constants.R_OK | constants.W_OK | constants.X_OK);
    });
    await this.#assertRoom();
  }

  /** Removes drafts of uploads whose process died. @param now of the files' clock */
  async sweep(now: Date): Promise<void> {
    const directory = join(this.directory, INCOMING);
    for (const name of await readdir(directory).catch(() => [])) {
      const file = await stat(join(directory, name)).catch(() => null);
      if (file !== null && now.getTime() - file.mtimeMs > INCOMING_LIMIT_MS) {
        await rm(join(directory, name), { force: true });
      }
    }
  }

  /** Reserves `size` bytes while `write` runs, because other uploads run too. @throws StorageUnavailable */
  async #withRoom<T>(size: number, write: () => Promise<T>): Promise<T> {
    this.#setAside += size;
    try {
      await this.#assertRoom();
      return await write();
    } finally {
      this.#setAside -= size;
    }
  }

  /**
   * Refuses writes that would take the last space of the disk: the database may be on it too.
   * @param size of the coming upload. The bytes are not reserved, because its sender may take as long as an upload may
   * @throws StorageUnavailable
   */
  async #assertRoom(size = 0): Promise<void> {
    await withStore(async () => {
      await this.#makeDirectory(INCOMING);
      const free = (await this.free()) - this.#setAside - size;
      if (free >= this.minFree) return;
      throw new Error(`${this.directory} has ${free} bytes free; ${this.minFree} stay free (STORAGE_MIN_FREE_MB)`);
    });
  }

  protected async free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.directory);
    return bavail * bsize;
  }

  async #writeDraft(draft: string, chunks: AsyncIterable<Buffer>): Promise<number> {
    const file = await withStore(() => open(draft, 'wx', 0o600));
    let size = 0;
    try {
      keepOwner(draft);
      for await (const chunk of chunks) {
        await this.#withRoom(chunk.length, () => withStore(() => file.writeFile(chunk)));
        size += chunk.length;
      }
      await withStore(() => file.sync());
    } finally {
      await file.close();
    }
    return size;
  }

  async #refuseClosed(key: string): Promise<void> {
    if ((await withStore(() => sizeOf(this.#path(key, CLOSED)))) === null) return;
    const message = 'This upload has been confirmed: its file cannot be replaced any more.';
    throw conflict('upload_closed', message);
  }

  async #makeDirectory(name: string): Promise<void> {
    for (const path of [this.directory, join(this.directory, name)]) {
      const made = await mkdir(path, { recursive: true, mode: 0o700 });
      if (made !== undefined) keepOwner(path);
    }
  }

  #path(key: string, entry: string): string {
    return join(this.directory, uuid(key), entry);
  }

  /** @param name `<key>/<id>` */
  #pathOf(name: string): string {
    const [key = '', id = '', ...rest] = name.split('/');
    if (rest.length > 0) throw new Error('This is not the name of a stored object');
    return this.#path(key, uuid(id));
  }
}

/** Ensures that a path is only ever made of UUIDs. */
function uuid(value: string): string {
  if (!isUuid(value)) throw new Error('This is not the key of a stored object');
  return value;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/**
 * Passes on the body if it has exactly `size` bytes.
 * @returns the chunks, together exactly `size` bytes
 * @throws UploadBrokenOff for another number of bytes, and for any failure of the sender's connection
 */
async function* wholeOf(body: Readable, size: number): AsyncGenerator<Buffer> {
  let read = 0;
  // Not destroyed on an error here: the sender still gets an answer.
  const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
  try {
    for await (const chunk of chunks) {
      read += chunk.length;
      if (read > size) break;
      yield chunk;
    }
  } catch {
    throw new UploadBrokenOff();
  }
  if (read !== size) throw new UploadBrokenOff();
}

/** Flushes a file or directory, if the system can: not every system opens a directory. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r').catch((error: unknown) => {
    if (['EISDIR', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  });
  try {
    await file?.sync();
  } finally {
    await file?.close();
  }
}
