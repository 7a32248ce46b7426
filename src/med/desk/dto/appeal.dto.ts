import { RequiredText } from '../../../core/http/index.js';

/** Body of `POST /v1/med/cases/{id}/appeal`. */
export class AppealDto {
  @RequiredText(
    'Why the payment was in order. Blanks around it do not count towards the 5.',
    5,
    2000,
    'The goods were delivered on 18 November; the receipt is attached.',
  )
  reason!: string;
}
