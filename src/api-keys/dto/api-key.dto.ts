import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsArray, IsBoolean, IsString } from 'class-validator';
import { DAY_OR_INSTANT, DescriptiveField, IsDayOrInstant, IsNullable, OptionalField } from '../../core/http/index.js';

/** The service checks its length, as the command line gives labels too. */
const LABEL = { type: String, maxLength: 64, example: 'Shop backend' };

/** The terms of a key, for issuing and rotating. The service checks that each entry is an address or a network. */
abstract class ApiKeyTermsDto {
  @ApiPropertyOptional({
    description:
      'When the key stops working by itself: an instant with its zone, or a day, which it works through in São Paulo. Null for never.',
    anyOf: DAY_OR_INSTANT.anyOf.map((form) => ({ ...form, nullable: true })),
    example: '2027-11-21',
  })
  @IsNullable()
  @IsDayOrInstant()
  expires_at?: string | null;

  @OptionalField({
    description:
      'Addresses and networks (CIDR) that the key works from; from elsewhere it is a 403 `ip_not_allowed`. An empty list is for everywhere.',
    type: 'array',
    items: { type: 'string', minLength: 2, pattern: '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$' },
    maxItems: 50,
    example: ['203.0.113.7', '2001:db8::/32'],
  })
  @IsArray({ message: 'must be a list of texts' })
  @IsString({ each: true, message: 'must be a list of texts' })
  allowed_ips?: string[];
}

export class IssueApiKeyDto extends ApiKeyTermsDto {
  @DescriptiveField({ ...LABEL, description: 'Free text to tell keys apart.' })
  @IsString({ message: 'must be a text' })
  label?: string;

  @OptionalField({ description: 'True issues a key for the sandbox.', default: false })
  @IsBoolean({ message: 'must be true or false' })
  test?: boolean;
}

export class RotateApiKeyDto extends ApiKeyTermsDto {
  @DescriptiveField({ ...LABEL, description: 'Replaces the label; left out, the label stays.' })
  @IsString({ message: 'must be a text' })
  label?: string;
}
