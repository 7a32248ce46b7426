import { describe, expect, it } from '@jest/globals';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { parseBrCode } from './index.js';
import { BR_CODE } from '../checkout/checkout.fixture.js';
import { qrPng } from './qr-code.js';

// Why `default`: the package is CommonJS, and an ES module gets its function there.
const decode = jsqr.default;

describe('qrPng', () => {
  it('makes a picture that is read back as the same code', async () => {
    const png = PNG.sync.read(qrPng(BR_CODE));
    const read = decode(new Uint8ClampedArray(png.data), png.width, png.height);
    expect(read?.data).toBe(BR_CODE);
    expect(parseBrCode(read?.data ?? '').amount).toBe(123456);
  });

  it('has at least 6 whole pixels per module, a quiet zone of 4 modules and only black and white', async () => {
    const png = PNG.sync.read(qrPng(BR_CODE));
    const shade = (x: number, y: number): number => png.data[(y * png.width + x) * 4] ?? -1;
    let quiet = 0;
    while (shade(quiet, quiet) === 255) quiet += 1;
    // The finder pattern in the corner is 7 modules wide.
    let finder = 0;
    while (shade(quiet + finder, quiet) === 0) finder += 1;
    const module = finder / 7;
    expect(Number.isInteger(module)).toBe(true);
    expect(module).toBeGreaterThanOrEqual(6);
    expect(quiet).toBe(4 * module);
    expect(png.width % module).toBe(0);
    const shades = new Set<number>();
    for (let offset = 0; offset < png.data.length; offset += 4) shades.add(png.data[offset] ?? -1);
    expect([...shades].sort((a, b) => a - b)).toEqual([0, 255]);
  });
});
