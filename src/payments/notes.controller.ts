import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../audit/index.js';
import {
  ApiKeyAuth,
  AtDoorOnly,
  CurrentActor,
  CurrentMember,
  CurrentScope,
  type MemberPrincipal,
} from '../auth/index.js';
import { cursorPage, idCursorFilter, IdCursorQuery } from '../core/http/index.js';
import { parseId } from '../core/ids.js';
import type { Scope } from '../core/mode.js';
import { CreateNoteDto, NoteBody, NoteListBody } from './dto/note.body.js';
import { NotesService } from './notes.service.js';
import { PAYMENT_ID, paymentId } from './payment-id.js';

const NOTE_ID = { name: 'noteId', description: 'Of the note: `<uuid>`.', schema: { type: 'string' as const } };

/** Notes of people about payments: an API key, which is nobody, gets 404. */
@ApiTags('Payments')
@ApiKeyAuth()
@ApiParam(PAYMENT_ID)
@Controller('v1/payments/:id/notes')
export class NotesController {
  constructor(private readonly notes: NotesService) {}

  @Get()
  @AtDoorOnly()
  @ApiOperation({
    summary: 'List the notes about a payment',
    description: 'Of the account’s people, newest first.',
  })
  @ApiResponse({ status: 200, description: 'A page.', type: NoteListBody })
  async list(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Query() query: IdCursorQuery,
  ): Promise<NoteListBody> {
    const filter = idCursorFilter(query);
    const found = await this.notes.list(scope, paymentId(id), filter);
    return cursorPage(
      found,
      filter.limit,
      (note) => note,
      (note) => note.id,
    );
  }

  @Post()
  @AtDoorOnly()
  @ApiOperation({
    summary: 'Write a note about a payment',
    description: 'For OWNER and ADMIN.',
  })
  @ApiResponse({ status: 201, description: 'The note.', type: NoteBody })
  add(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Body() { text }: CreateNoteDto,
    @CurrentMember() member: MemberPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<NoteBody> {
    return this.notes.add(scope, paymentId(id), text, member, actor);
  }

  @Delete(':noteId')
  @AtDoorOnly()
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a note about a payment',
    description: 'For its author and OWNERs.',
  })
  @ApiParam(NOTE_ID)
  @ApiResponse({ status: 204, description: 'Deleted.' })
  delete(
    @CurrentScope() scope: Scope,
    @Param('id') id: string,
    @Param('noteId') noteId: string,
    @CurrentMember() member: MemberPrincipal,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.notes.delete(scope, paymentId(id), parseId(noteId, [], 'note'), member, actor);
  }
}
