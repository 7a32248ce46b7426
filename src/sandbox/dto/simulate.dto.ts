import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsIn, IsInt, IsOptional, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { ChargeSchema, IsTaxId } from '../../charges/index.js';
import { MAX_AMOUNT } from '../../core/money/index.js';

export const SANDBOX_EVENTS = ['pay', 'expire', 'fail'] as const;

const AMOUNT = { message: `must be an integer from 1 to ${MAX_AMOUNT}` };

export class SimulateDto {
  @ApiProperty({ description: 'What happens at the sandbox bank.', enum: SANDBOX_EVENTS, example: 'pay' })
  @IsDefined({ message: 'is required' })
  @IsIn(SANDBOX_EVENTS, { message: `must be one of ${SANDBOX_EVENTS.join(', ')}` })
  event!: (typeof SANDBOX_EVENTS)[number];

  @ApiPropertyOptional({
    description:
      '`pay`: CPF or CNPJ of the payer; null when the bank does not report it. Default: the customer’s document, or a fixed valid CPF.',
    type: String,
    nullable: true,
    example: '52998224725',
  })
  @IsOptional()
  @IsTaxId()
  payer_document?: string | null;

  @ApiPropertyOptional({
    description: '`pay`: name of the payer.',
    type: String,
    maxLength: 200,
    nullable: true,
    example: 'Maria da Silva',
  })
  @IsOptional()
  @IsString({ message: 'must be a text' })
  @MaxLength(200, { message: 'must have at most 200 characters' })
  payer_name?: string | null;

  @ApiPropertyOptional({
    description: '`pay`: cents. Default: exactly what is asked for.',
    type: 'integer',
    minimum: 1,
    example: 1990,
  })
  @IsOptional()
  @IsInt(AMOUNT)
  @Min(1, AMOUNT)
  @Max(MAX_AMOUNT, AMOUNT)
  amount?: number;

  @ApiPropertyOptional({
    description: '`pay`: id of the Pix; the same one again changes nothing. Default: a new one.',
    example: 'E00000000202611211530abcDEF12345',
  })
  @IsOptional()
  @Matches(/^[A-Za-z0-9]{1,64}$/, { message: 'must have 1 to 64 letters and digits (a real one: E and 31 more)' })
  end_to_end_id?: string;
}

export class SandboxEventSchema {
  @ApiProperty({ description: 'Kind of object.', enum: ['sandbox_event'] }) object!: string;
  @ApiProperty({ description: 'As asked for.', enum: SANDBOX_EVENTS }) event!: string;
  @ApiProperty({ description: 'The charge after it.', type: ChargeSchema }) charge!: ChargeSchema;
}
