import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, NullableText, RequiredText, Time } from '../../core/http/index.js';

const MAX_NOTE = 500;

/** Body of `POST /v1/payments/{id}/notes`. */
export class CreateNoteDto {
  @RequiredText('For the people of the account alone.', 1, MAX_NOTE, 'Asked by phone for another colour.')
  text!: string;
}

export class NoteBody {
  @ApiProperty({ description: 'Of the note.', format: 'uuid', example: '019aa0f0-9a01-7b8c-8d2e-5f6071829304' })
  id!: string;
  @NullableText('As supplied; null once the customer was erased.', 'Asked by phone for another colour.')
  text!: string | null;
  @ApiProperty({
    description: 'The user who wrote it.',
    format: 'uuid',
    example: '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12',
  })
  authorId!: string;
  @NullableText('Name or e-mail of the author.', 'Ana Souza') authorName!: string | null;
  @Time('UTC.') createdAt!: string;
}

export class NoteListBody extends CursorListOf(NoteBody) {}
