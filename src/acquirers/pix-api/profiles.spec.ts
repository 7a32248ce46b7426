import { describe, expect, it } from '@jest/globals';
import { findProfile, PROFILES } from './profiles.js';

describe('the profiles', () => {
  it('include every promised PSP', () => {
    expect(Object.keys(PROFILES)).toEqual([
      'standard',
      'efi',
      'bb',
      'itau',
      'sicredi',
      'sicoob',
      'bradesco',
      'inter',
      'santander',
    ]);
    expect(findProfile('toString')).toBeUndefined();
  });

  it.each(Object.values(PROFILES))('$title is well-formed', (profile) => {
    const { baseUrl, tokenUrl, prefix, variables, optionalVariables } = profile;
    for (const { value } of [...Object.values(baseUrl), ...Object.values(tokenUrl)]) {
      if (value !== null) expect(value).toMatch(/^https:\/\/[a-z0-9.-]+(?:\/[A-Za-z0-9._-]+)*$/);
    }
    for (const path of [prefix.value.all, ...Object.values(prefix.value.only)])
      expect(path).toMatch(/^(?:\/[a-z0-9_-]+)*$/);
    // Every placeholder is a variable that the connection has to give.
    const texts = JSON.stringify([profile.headers, profile.query, profile.webhookHeaders, profile.token.value.headers]);
    const names = [...texts.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name);
    const known = ['client_id', 'uuid', ...Object.keys(variables), ...Object.keys(optionalVariables)];
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([]);
    // A fact is verified by a public source, or marked as unverified.
    const facts = [
      ...Object.values(baseUrl),
      ...Object.values(tokenUrl),
      profile.token,
      prefix,
      profile.errors,
      profile.inbound,
      profile.phoneInPath,
      profile.payouts,
    ];
    for (const { source } of facts) expect(source ?? 'https://').toMatch(/^(?:https:\/\/|Projeto ACBr, )/);
  });
});
