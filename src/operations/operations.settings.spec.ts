import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { getMetadataStorage } from 'class-validator';
import { type AccountEntity, SETTINGS } from '../accounts/index.js';
import { AccountBody } from './dto/account.body.js';
import { ChangeAccountDto, CreateAccountDto } from './dto/account.dto.js';
import { accountBody } from './operations.serializer.js';

const NAMES = Object.keys(SETTINGS).sort();

/** Fields that are taken; others are refused as unknown. */
function fieldsOf(dto: new () => object): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))].sort();
}

/** Fields of a class as the documentation shows them. */
function documentedIn(shape: new () => object): string[] {
  const names = (Reflect.getMetadata('swagger/apiModelPropertiesArray', shape.prototype as object) ?? []) as string[];
  return names.map((name) => name.replace(/^:/, '')).sort();
}

const ACCOUNT: AccountEntity = {
  id: '019aa0f0-0000-7000-8000-000000000001',
  name: 'Padaria São João',
  contactEmail: 'ana@example.com',
  city: 'SAO PAULO',
  feeBps: 99,
  feeFixed: 10,
  pixOutFee: 35,
  releaseDays: 1,
  reserveBps: 1_000,
  reserveDays: 30,
  payerLock: false,
  medOutcomeNotifications: true,
  defaultExpiresIn: 3_600,
  fraudMode: 'enforce',
  fraudVelocity: 30,
  fraudMaxAmount: null,
  blocksDocuments: false,
  liveAcquirer: null,
  negativeNoticeDays: 7,
  payerReceipts: true,
  suspended: false,
  fraudBlockedDocuments: [],
  accent: null,
  logo: null,
  taxId: '11222333000181',
  payoutFee: 0,
  payoutsTo: null,
  payoutApprovalAbove: null,
  payoutNewDestinationHours: null,
  payoutMax: null,
  payoutDailyMax: null,
  payoutNightMax: null,
  payoutSchedule: null,
  payoutScheduleAfter: null,
  payoutScheduleBy: null,
  monthlyClosing: false,
  monthlyClosingAfter: null,
  createdAt: new Date('2026-11-21T12:00:00Z'),
};

describe('every setting of an account', () => {
  it('can be changed by operators, who can change nothing else', () => {
    expect(fieldsOf(ChangeAccountDto)).toEqual(NAMES);
    expect(documentedIn(ChangeAccountDto)).toEqual(NAMES);
  });

  it('can be given when the account is created', () => {
    const taken = [...NAMES, 'email'].sort();
    expect(fieldsOf(CreateAccountDto)).toEqual(taken);
    expect(documentedIn(CreateAccountDto)).toEqual(taken);
  });

  it('is shown to operators', () => {
    const shown = [...NAMES, 'id', 'object', 'created_at'].sort();
    expect(Object.keys(accountBody(ACCOUNT)).sort()).toEqual(shown);
    expect(documentedIn(AccountBody)).toEqual(shown);
  });
});
