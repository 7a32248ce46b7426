import { ApiProperty } from '@nestjs/swagger';
import { CursorListOf, EnumOf, Integer, Text, Time } from '../../core/http/index.js';

const CURSOR = 'evc_812_019aa0f07d5c7c3e9b1a2f4d6c8e0a12_1';

export class EventBody {
  @Text(
    'One for each business event, under all of its names and in all deliveries.',
    'evt_019aa0f07d5c7c3e9b1a2f4d6c8e0a12',
  )
  id!: string;
  @EnumOf('Kind of object.', ['event']) object!: 'event';
  @Text('Version of the API.', '2025-01-01') api_version!: string;
  @Text('Name of the event catalog.', 'charge.paid') type!: string;
  @Time('When it happened.', '2026-11-20T12:00:00.000Z') created_at!: string;
  @ApiProperty({ description: '1, 2, … for the events of one subject: which of two is the later one.', example: 2 })
  sequence!: number;
  @ApiProperty({
    description: '`data` of the webhook of this name, as it was when the event happened.',
    type: 'object',
    additionalProperties: true,
  })
  data!: object;
  @Text('Where the list goes on behind this event.', CURSOR) cursor!: string;
}

export class ResentEventBody {
  @Text('The event.', 'evt_019aa0f07d5c7c3e9b1a2f4d6c8e0a12') id!: string;
  @EnumOf('Kind of object.', ['event']) object!: 'event';
  @Integer('Deliveries to endpoints; 0 when none is subscribed.', 2) deliveries!: number;
}

export class EventListBody extends CursorListOf(EventBody, CURSOR) {}
