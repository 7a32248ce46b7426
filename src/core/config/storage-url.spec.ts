import { describe, expect, it } from '@jest/globals';
import { storageUrl } from './storage-url.js';

const S3 = { kind: 's3', publicUrl: undefined, region: 'us-east-1', bucket: 'evidence', prefix: '' };

describe('STORAGE_URL', () => {
  it.each([
    [
      's3:///evidence?region=sa-east-1',
      { ...S3, endpoint: undefined, region: 'sa-east-1', pathStyle: false, credentials: undefined },
    ],
    [
      's3://files.example.com/evidence',
      { ...S3, endpoint: 'https://files.example.com', pathStyle: true, credentials: undefined },
    ],
    [
      's3://KEY:a%2Fb%2Bc%40@127.0.0.1:9000/evidence/med/2026?tls=false&path_style=false&public_url=https://files.example.com',
      {
        ...S3,
        endpoint: 'http://127.0.0.1:9000',
        publicUrl: 'https://files.example.com',
        prefix: 'med/2026/',
        pathStyle: false,
        credentials: { accessKeyId: 'KEY', secretAccessKey: 'a/b+c@' },
      },
    ],
  ])('reads %s', (url, expected) => {
    expect(storageUrl.parse(url)).toEqual(expected);
  });

  it.each([
    ['evidence', 'must look like s3://'],
    ['https://host/bucket', 'must look like s3://'],
    ['s3://KEY:secret/part@host/bucket', '/ is %2F'],
    ['s3://host', 'must name a bucket'],
    ['s3://host/Not_A_Bucket', 'must name a bucket'],
    ['s3://host/bucket/a b', 'prefix'],
    ['s3://KEY@host/bucket', 'both a key and a secret'],
    ['s3://KEY:%zz@host/bucket', 'write it as %25'],
    ['s3:///bucket', 'region'],
    ['s3:///bucket?region=sa-east-1&tls=false', 'tls without a host'],
    ['s3://host/bucket?tls=maybe', 'tls'],
    ['s3://host/bucket?regoin=x', 'regoin'],
    ['s3://host/bucket?public_url=files.example.com', 'must be an origin'],
  ])('refuses %s with the reason', (url, why) => {
    const { success, error } = storageUrl.safeParse(url);
    expect(success).toBe(false);
    const said = JSON.stringify(error?.issues);
    expect(said).toContain(why);
    expect(said).not.toContain('secret/part');
  });
});
