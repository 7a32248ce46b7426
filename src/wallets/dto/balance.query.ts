import { ApiPropertyOptional } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { IsOptional } from '../../core/http/index.js';

export class BalanceQuery {
  @ApiPropertyOptional({ description: 'Ask for the flat form of this one currency.', example: 'BRL' })
  @IsOptional()
  @Matches(/^[A-Z0-9]{3,8}$/, { message: 'must be a currency code of 3 to 8 capital letters or digits' })
  currency?: string;
}
