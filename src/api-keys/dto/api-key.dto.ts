import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsBoolean, IsString } from 'class-validator';
import { IsOptional } from '../../core/http/index.js';

/** Its length is the service's to check: the command line gives labels too. */
const LABEL = { maxLength: 64, example: 'Shop backend' };

export class IssueApiKeyDto {
  @ApiPropertyOptional({ ...LABEL, description: 'Free text to tell keys apart.' })
  @IsOptional()
  @IsString({ message: 'must be a text' })
  label?: string;

  @ApiPropertyOptional({ description: 'True issues a key for the sandbox.', default: false })
  @IsOptional()
  @IsBoolean({ message: 'must be true or false' })
  test?: boolean;
}

export class RotateApiKeyDto {
  @ApiPropertyOptional({ ...LABEL, description: 'Replaces the label; left out, the label stays.' })
  @IsOptional()
  @IsString({ message: 'must be a text' })
  label?: string;
}
