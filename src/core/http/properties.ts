import { ApiProperty } from '@nestjs/swagger';

const NOON = '2026-11-21T12:00:00.000Z';

/** Fields for the OpenAPI document only. Requests are checked by the rules of class-validator. */
export const Text = (description: string, example: string): PropertyDecorator => ApiProperty({ description, example });

export const NullableText = (description: string, example: string | null): PropertyDecorator =>
  ApiProperty({ description, type: String, nullable: true, example });

/** A value out of a fixed list. */
export const EnumOf = (description: string, values: readonly (string | boolean)[]): PropertyDecorator =>
  ApiProperty({ description, enum: [...values] });

/** Amounts are in the smallest unit of their currency. */
export const Integer = (description: string, example: number): PropertyDecorator =>
  ApiProperty({ description, type: 'integer', example });

export const NullableInteger = (description: string, example: number): PropertyDecorator =>
  ApiProperty({ description, type: 'integer', nullable: true, example });

/** An instant, as RFC 3339 with milliseconds in UTC. */
export const Time = (description: string, example = NOON): PropertyDecorator =>
  ApiProperty({ description, type: String, format: 'date-time', example });

export const NullableTime = (description: string, example = NOON): PropertyDecorator =>
  ApiProperty({ description, type: String, format: 'date-time', nullable: true, example });
