import { describe, expect, it } from '@jest/globals';
import { EVIDENCE_TYPES, type EvidenceType, isOfType } from './evidence-types.js';

const STARTS: Record<EvidenceType, string[]> = {
  'image/png': ['\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0'],
  'image/jpeg': ['\xff\xd8\xff\xe0\0\x10JFIF\0', '\xff\xd8\xff\xe1\0\0Exif', '\xff\xd8\xff\xdb'],
  'image/webp': ['RIFF\x24\0\0\0WEBPVP8 ', 'RIFF\n\r\0\0WEBPVP8L'],
  'image/gif': ['GIF87a\x01\0', 'GIF89a\x01\0'],
  'application/pdf': ['%PDF-1.7\n', '\xef\xbb\xbf%PDF-1.4', '\r\n%PDF-2.0'],
};

const NOTHING = [
  '',
  'GIF90a',
  'PNG',
  '<svg xmlns="http://www.w3.org/2000/svg">',
  '<html>',
  'MZ\x90',
  'PK\x03\x04',
  '%PDF',
];

describe('the type of a file', () => {
  it.each(EVIDENCE_TYPES)('recognizes %s by its first bytes only', (type) => {
    for (const [other, starts] of Object.entries(STARTS)) {
      for (const start of starts) expect(isOfType(type, Buffer.from(start, 'latin1'))).toBe(other === type);
    }
    for (const start of NOTHING) expect(isOfType(type, Buffer.from(start, 'latin1'))).toBe(false);
  });
});
