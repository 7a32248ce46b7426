import { ApiProperty } from '@nestjs/swagger';
import { IsDefined } from 'class-validator';
import { IsText } from '../../core/http/index.js';

/** Body of `POST /v1/med/cases/{id}/appeal`. */
export class AppealDto {
  @ApiProperty({
    description: 'Why the payment was in order. Blanks around it do not count towards the 5.',
    minLength: 5,
    maxLength: 2000,
    example: 'The goods were delivered on 18 November; the receipt is attached.',
  })
  @IsDefined({ message: 'is required' })
  @IsText(5, 2000)
  reason!: string;
}
