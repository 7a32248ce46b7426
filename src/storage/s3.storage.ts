import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload as MultipartUpload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../core/clock.js';
import type { StorageConfig } from '../core/config/index.js';
import { attachment } from './file-name.js';
import { type Download, ObjectStorage, type StoredObject, type Upload } from './object-storage.js';
import { withStore } from './storage.errors.js';

const CONNECT_MS = 2_000;
/** The limit of one attempt; no answer here is larger than a list. */
const REQUEST_MS = 5_000;
const UPLOAD = 'upload';
/** Headers that an upload must send as they were signed. */
const UPLOAD_HEADERS = new Set(['host', 'content-type', 'content-length']);

type S3Config = Extract<StorageConfig, { kind: 's3' }>;

/** Any S3-compatible store. Objects are `<prefix><key>/<name>`; the upload itself is `<prefix><key>/upload`. */
export class S3Storage extends ObjectStorage implements OnApplicationShutdown {
  readonly #client: S3Client;
  /** Signs for the public address; sends nothing. */
  readonly #signer: S3Client;

  constructor(
    private readonly config: S3Config,
    private readonly clock: Clock,
  ) {
    super();
    this.#client = new S3Client(clientConfig(config, config.endpoint));
    this.#signer = new S3Client(clientConfig(config, config.publicUrl ?? config.endpoint));
  }

  onApplicationShutdown(): void {
    this.#client.destroy();
    this.#signer.destroy();
  }

  override async uploadUrl({ key, contentType, size }: Upload, seconds: number): Promise<string> {
    const command = new PutObjectCommand({
      ...this.#object(`${key}/${UPLOAD}`),
      ContentType: contentType,
      ContentLength: size,
    });
    return withStore(() =>
      getSignedUrl(this.#signer, command, {
        expiresIn: seconds,
        signingDate: this.clock.now(),
        signableHeaders: UPLOAD_HEADERS,
      }),
    );
  }

  override async downloadUrl({ name, contentType, fileName }: Download, seconds: number): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#object(name),
      ResponseContentType: contentType,
      ResponseContentDisposition: attachment(fileName),
      ResponseCacheControl: 'private, no-store',
    });
    return withStore(() => getSignedUrl(this.#signer, command, { expiresIn: seconds, signingDate: this.clock.now() }));
  }

  override async take(key: string): Promise<StoredObject | null> {
    const name = `${key}/${randomUUID()}`;
    const { Bucket, Key } = this.#object(`${key}/${UPLOAD}`);
    return withStore(async () => {
      try {
        await this.#client.send(new CopyObjectCommand({ ...this.#object(name), CopySource: `${Bucket}/${Key}` }));
      } catch (error) {
        if (error instanceof NoSuchKey || error instanceof NotFound) return null;
        throw error;
      }
      const { ContentLength } = await this.#client.send(new HeadObjectCommand(this.#object(name)));
      if (ContentLength === undefined) throw new Error('The store does not say how large an object is');
      return { name, size: ContentLength };
    });
  }

  override async write(key: string, chunks: AsyncIterable<Buffer>): Promise<StoredObject> {
    const name = `${key}/${randomUUID()}`;
    let size = 0;
    let failure: unknown;
    const counted = async function* (): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of chunks) {
          size += chunk.length;
          yield chunk;
        }
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    // Parts of 5 MiB, one at a time.
    const params = { ...this.#object(name), Body: Readable.from(counted(), { objectMode: false }) };
    const upload = new MultipartUpload({ client: this.#client, params, queueSize: 1 });
    try {
      await withStore(() => upload.done());
    } catch (error) {
      throw failure ?? error;
    }
    return { name, size };
  }

  override async firstBytes(name: string, count: number): Promise<Buffer> {
    return withStore(async () => {
      const command = new GetObjectCommand({ ...this.#object(name), Range: `bytes=0-${count - 1}` });
      const { Body } = await this.#client.send(command);
      return Buffer.from((await Body?.transformToByteArray()) ?? []).subarray(0, count);
    });
  }

  override async close(key: string, keep: string | null): Promise<void> {
    const kept = keep === null ? null : this.#object(keep).Key;
    const { Bucket, Key: Prefix } = this.#object(`${key}/`);
    await withStore(async () => {
      // A page lists a thousand objects: more than the uploads that fit into the life of a URL.
      const { Contents = [] } = await this.#client.send(new ListObjectsV2Command({ Bucket, Prefix }));
      for (const { Key } of Contents) {
        if (Key !== kept) await this.#client.send(new DeleteObjectCommand({ Bucket, Key }));
      }
    });
  }

  override async remove(name: string): Promise<void> {
    await withStore(() => this.#client.send(new DeleteObjectCommand(this.#object(name))));
  }

  override async check(): Promise<void> {
    await withStore(() => this.#client.send(new HeadBucketCommand({ Bucket: this.config.bucket })));
  }

  #object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.config.bucket, Key: `${this.config.prefix}${name}` };
  }
}

function clientConfig(config: S3Config, endpoint: string | undefined): S3ClientConfig {
  return {
    region: config.region,
    forcePathStyle: config.pathStyle,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(config.credentials === undefined ? {} : { credentials: config.credentials }),
    // The SDK's own checksums would become part of an upload's signature, and not every store knows them.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      // Without this a time-out is only a warning.
      throwOnRequestTimeout: true,
    },
  };
}
