import { IsText, RequiredField } from '../../core/http/index.js';

/** Body of `POST /v1/med/cases/{id}/appeal`. */
export class AppealDto {
  @RequiredField({
    description: 'Why the payment was in order. Blanks around it do not count towards the 5.',
    minLength: 5,
    maxLength: 2000,
    example: 'The goods were delivered on 18 November; the receipt is attached.',
  })
  @IsText(5, 2000)
  reason!: string;
}
