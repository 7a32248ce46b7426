/** An upload as it was agreed: bound by the signature of its URL. */
export interface Upload {
  /** A UUID: keys are never made of what a user sends. */
  readonly key: string;
  readonly contentType: string;
  /** Bytes, exactly. */
  readonly size: number;
}

/** A download as it was agreed. */
export interface Download {
  /** The name of a StoredObject. */
  readonly name: string;
  readonly contentType: string;
  /** The name that the user gave it; made safe here. */
  readonly fileName: string;
}

/** A file that cannot change any more. */
export interface StoredObject {
  readonly name: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * Where files are kept that go straight from their sender to the store and from there to their reader, by URLs whose
 * signature is the credential. While its URL holds, what was uploaded can be replaced; `take` makes a copy that cannot,
 * so that what is checked is what is kept. Every method but the URLs throws StorageUnavailable when the store does not
 * answer; nothing is half done then.
 */
export abstract class ObjectStorage {
  /** An address for a PUT with exactly this Content-Type and Content-Length, within `seconds`. */
  abstract uploadUrl(upload: Upload, seconds: number): Promise<string>;

  /** An address for a GET within `seconds`, answered as an attachment. */
  abstract downloadUrl(download: Download, seconds: number): Promise<string>;

  /** Copies what was uploaded under the key to a name of its own; null when nothing was. */
  abstract take(key: string): Promise<StoredObject | null>;

  /**
   * Keeps a file of our own in constant memory: whole or not at all.
   * @throws also what `chunks` throws
   */
  abstract write(key: string, chunks: AsyncIterable<Buffer>): Promise<StoredObject>;

  /** At most `count` bytes from its start. */
  abstract firstBytes(name: string, count: number): Promise<Buffer>;

  /**
   * Ends the upload: everything under the key is removed but `keep`. Where the store is ours it takes no upload under
   * this key from now on; elsewhere a later one is removed by the next call.
   * @param keep name of a StoredObject of this key; null keeps nothing
   */
  abstract close(key: string, keep: string | null): Promise<void>;

  /** Removes one; fine when it is gone. */
  abstract remove(name: string): Promise<void>;

  /** Whether files can be kept and read now. */
  abstract check(): Promise<void>;
}
