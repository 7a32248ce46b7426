import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsDefined } from 'class-validator';
import { IsDateTime, IsOptional } from '../../core/http/index.js';

export class RecoverDto {
  @IsDateTime()
  @IsDefined({ message: 'is required' })
  @ApiProperty({
    description: 'What ended FAILED or CANCELLED at or after this moment; at most 30 days back.',
    type: String,
    format: 'date-time',
    example: '2026-11-21T12:00:00.000Z',
  })
  since!: string;

  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  @ApiPropertyOptional({ description: 'Only count; send nothing.', type: Boolean, default: false })
  dry_run?: boolean;
}
