/** An agreed upload, bound by the signature of its URL. */
export interface Upload {
  /** A UUID: keys never contain text of a user. */
  readonly key: string;
  readonly contentType: string;
  /** Exact number of bytes. */
  readonly size: number;
}

/** An agreed download. */
export interface Download {
  /** The name of a StoredObject. */
  readonly name: string;
  readonly contentType: string;
  /** The name that the user gave the file; made safe here. */
  readonly fileName: string;
}

/** A file that can no longer change. */
export interface StoredObject {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Storage of files that go directly from their sender to the store and from the store to their reader, by signed URLs.
 * While its URL is valid, an upload can be replaced. `take` makes a copy that cannot change, so that the checked file
 * is the kept file. If the store does not answer, every method but the URLs throws StorageUnavailable; nothing is half
 * done then.
 */
export abstract class ObjectStorage {
  /** A URL for a PUT with exactly this Content-Type and Content-Length, within `seconds`. */
  abstract uploadUrl(upload: Upload, seconds: number): Promise<string>;

  /** A URL for a GET within `seconds`, answered as an attachment. */
  abstract downloadUrl(download: Download, seconds: number): Promise<string>;

  /** Copies the upload under the key to a name of its own; null without an upload. */
  abstract take(key: string): Promise<StoredObject | null>;

  /**
   * Stores a file of our own in constant memory: complete or not at all.
   * @throws also what `chunks` throws
   */
  abstract write(key: string, chunks: AsyncIterable<Buffer>): Promise<StoredObject>;

  /** At most `count` bytes from its start. */
  abstract firstBytes(name: string, count: number): Promise<Buffer>;

  /**
   * Ends the upload: removes everything under the key but `keep`. If the store is our disk, it takes no upload under
   * this key from now on; elsewhere the next call removes a later upload.
   * @param keep name of a StoredObject of this key; null keeps nothing
   */
  abstract close(key: string, keep: string | null): Promise<void>;

  /** Removes one file; succeeds if the file is gone. */
  abstract remove(name: string): Promise<void>;

  /** Checks whether files can be stored and read now. */
  abstract check(): Promise<void>;
}
