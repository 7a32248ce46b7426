import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { contentSecurityPolicy } from './checkout.csp.js';
import { aReceipt, aView } from './checkout.fixture.js';
import { notFoundPage } from './checkout.layout.js';
import { checkoutPage, receiptPage } from './checkout.page.js';
import { SCRIPT } from './checkout.script.js';
import { STYLES } from './checkout.styles.js';

const DIRECTIVES = new Map(
  contentSecurityPolicy({ ownStyle: '' })
    .split('; ')
    .map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources.join(' ')] as const;
    }),
);

function hashesOf(page: string, element: 'style' | 'script'): string[] {
  return [...page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))].map(
    (match) =>
      `'sha256-${createHash('sha256')
        .update(match[1] ?? '')
        .digest('base64')}'`,
  );
}

describe('the content security policy', () => {
  it('allows exactly the sources that the page needs', () => {
    expect([...DIRECTIVES.keys()]).toEqual([
      'default-src',
      'img-src',
      'connect-src',
      'style-src',
      'script-src',
      'base-uri',
      'form-action',
      'frame-ancestors',
    ]);
    for (const name of ['default-src', 'base-uri', 'form-action', 'frame-ancestors']) {
      expect(DIRECTIVES.get(name)).toBe("'none'");
    }
    expect(contentSecurityPolicy({ ownStyle: '' })).not.toMatch(/unsafe|\*|http/);
  });

  it('lets a form go to this service alone, or on to the merchant of the test card', () => {
    expect(contentSecurityPolicy({ ownStyle: '', forms: 'self' })).toContain("form-action 'self';");
    expect(contentSecurityPolicy({ ownStyle: '', forms: 'anywhere' })).not.toContain('form-action');
  });

  it('carries the hashes of the inline style and script', () => {
    const { html: page } = checkoutPage(aView(), 'pt');
    expect(hashesOf(page, 'style')).toEqual([DIRECTIVES.get('style-src')]);
    expect(hashesOf(page, 'script')).toEqual([DIRECTIVES.get('script-src')]);
    expect(hashesOf(notFoundPage('en').html, 'style')).toEqual([DIRECTIVES.get('style-src')]);
    const branded = checkoutPage(aView({ accent: '#0b6b60' }), 'pt');
    expect(branded.ownStyle).toBe(':root{--button:#0b6b60;--on-button:#fff}');
    const styles = hashesOf(branded.html, 'style');
    expect(styles).toHaveLength(2);
    expect(contentSecurityPolicy(branded)).toContain(`style-src ${styles.join(' ')};`);
  });

  it('needs no inline attribute, which a hash does not cover', () => {
    for (const { html: page } of [checkoutPage(aView(), 'pt'), notFoundPage('pt'), receiptPage(aReceipt(), 'en')]) {
      const markup = page.replace(/<(style|script)>.*?<\/\1>/gs, '');
      expect(markup).not.toMatch(/\s(?:style|on[a-z]+)=/);
    }
  });
});

describe('the inline script', () => {
  it('is JavaScript and cannot end its own element', () => {
    expect(() => new Script(SCRIPT)).not.toThrow();
    expect(`${SCRIPT}${STYLES}`).not.toMatch(/<\/|<!--|\r/);
  });
});

describe('the colours', () => {
  const [light = '', dark = ''] = [...STYLES.matchAll(/:root\{([^}]*)\}/g)].map((match) => match[1]);
  const schemes = { light: variables(light), dark: { ...variables(light), ...variables(dark) } };

  it.each(['light', 'dark'] as const)('have contrast AA in the %s scheme', (scheme) => {
    const colour = (name: string): string => schemes[scheme][name] ?? 'missing';
    const pairs: [text: string, background: string, least: number][] = [
      ['ink', 'card', 4.5],
      ['ink', 'field', 4.5],
      ['soft', 'card', 4.5],
      ['soft', 'field', 4.5],
      ['soft', 'page', 4.5],
      ['accent', 'field', 4.5],
      ['good', 'good-tint', 4.5],
      ['bad', 'bad-tint', 4.5],
      ['accent', 'accent-tint', 4.5],
      ['on-button', 'button', 4.5],
      ['accent', 'card', 4.5],
      ['accent', 'page', 4.5],
      ['warn', 'warn-tint', 4.5],
      // Contrast of graphics: the field's edge, the focus ring.
      ['edge', 'card', 3],
    ];
    const poor = pairs.filter(([text, background, least]) => contrast(colour(text), colour(background)) < least);
    expect(poor).toEqual([]);
  });
});

function variables(block: string): Record<string, string> {
  return Object.fromEntries(
    [...block.matchAll(/--([a-z-]+):(#[0-9a-f]{3,6})\b/g)].map((m) => [m[1] ?? '', m[2] ?? '']),
  );
}

/** WCAG 2.2, "contrast ratio". NaN, which passes no comparison, cannot occur: an unknown name throws. */
function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(hex: string): number {
  const full = hex.length === 4 ? hex.replace(/[0-9a-f]/g, '$&$&') : hex;
  if (!/^#[0-9a-f]{6}$/.test(full)) throw new Error(`not a colour: ${hex}`);
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(full.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
