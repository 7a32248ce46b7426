import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf } from '../../core/http/index.js';

const CURSOR = 'evc_812_019aa0f07d5c7c3e9b1a2f4d6c8e0a12_1';

export class EventBody {
  @ApiProperty({
    description: 'One for each business event, under all of its names and in all deliveries.',
    example: 'evt_019aa0f07d5c7c3e9b1a2f4d6c8e0a12',
  })
  id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['event'] }) object!: 'event';
  @ApiProperty({ description: 'Version of the API.', example: '2025-01-01' }) api_version!: string;
  @ApiProperty({ description: 'Name of the event catalog.', example: 'charge.paid' }) type!: string;
  @ApiProperty({ description: 'When it happened.', format: 'date-time', example: '2026-11-20T12:00:00.000Z' })
  created_at!: string;
  @ApiProperty({ description: '1, 2, … for the events of one subject: which of two is the later one.', example: 2 })
  sequence!: number;
  @ApiProperty({
    description: '`data` of the webhook of this name, as it was when the event happened.',
    type: 'object',
    additionalProperties: true,
  })
  data!: object;
  @ApiProperty({ description: 'Where the list goes on behind this event.', example: CURSOR }) cursor!: string;
}

export class EventListBody extends CursorListOf(EventBody, CURSOR) {}
