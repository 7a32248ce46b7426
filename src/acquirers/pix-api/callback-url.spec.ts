import { describe, expect, it } from '@jest/globals';
import { isSameCallback } from './callback-url.js';

const OURS = 'https://pay.example.com/callbacks/pix/019aa0f0-0000-7000-8000-000000000001/secret';

describe('the registered address that a PSP shows', () => {
  it.each([
    OURS,
    `${OURS}/`,
    `${OURS}/pix`,
    `${OURS}/pix/`,
    ` ${OURS}`,
    OURS.replace('example.com', 'Example.com'),
    OURS.replace('example.com', 'example.com:443'),
  ])('is recognized as ours: %s', (registered) => expect(isSameCallback(registered, OURS)).toBe(true));

  it.each([
    OURS.replace('secret', 'Secret'),
    OURS.replace('https', 'http'),
    OURS.replace('pay.', 'pix.'),
    `${OURS}?x=1`,
    `${OURS}/other`,
    `${OURS}pix`,
    'nothing',
    '',
  ])('is recognized as another address: %s', (registered) => expect(isSameCallback(registered, OURS)).toBe(false));
});
