import { ApiProperty } from '@nestjs/swagger';
import { IsDefined, IsString, Length } from 'class-validator';

/** Body of `POST /v1/med/cases/{id}/appeal`. */
export class AppealDto {
  @ApiProperty({
    description: 'Why the payment was in order.',
    minLength: 5,
    maxLength: 2000,
    example: 'The goods were delivered on 18 November; the receipt is attached.',
  })
  @IsDefined({ message: 'is required' })
  @IsString({ message: 'must be a text' })
  @Length(5, 2000, { message: 'must have 5 to 2000 characters' })
  reason!: string;
}
