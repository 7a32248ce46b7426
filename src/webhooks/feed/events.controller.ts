import { Readable } from 'node:stream';
import { Controller, Get, Headers, Param, Query, Res, StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Actor } from '../../audit/index.js';
import { ApiKeyAuth, AuditedAtDoor, Costs, CurrentActor, CurrentScope } from '../../auth/index.js';
import { invalidRequest } from '../../core/errors/index.js';
import { ApiRefusal, PostOk } from '../../core/http/index.js';
import type { Scope } from '../../core/mode.js';
import { EventListBody, ResentEventBody } from '../dto/event.body.js';
import { EventsQuery, EventStreamQuery } from '../dto/events.query.js';
import { cursorText, type EventCursor, parseCursor } from './cursor.js';
import { EventFeed, type FeedFilter } from './event-feed.service.js';
import { EventStreams } from './event-stream.service.js';

const UNKNOWN_CURSOR = { unknown_cursor: 'This database has no such cursor: begin again without one.' };
/** The cost of a resend, which makes a delivery for each endpoint and name of the event. */
const RESEND_TOKENS = 20;

@ApiTags('Events')
@ApiKeyAuth()
@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly feed: EventFeed,
    private readonly streams: EventStreams,
  ) {}

  @Get()
  // A rare name is looked for among all that there is; events that were sent again are read one by one.
  @Costs(
    ({ type, subject, resends }) =>
      (type === undefined || subject !== undefined ? 0 : 5) + (resends === 'true' ? 5 : 0),
  )
  @ApiOperation({
    summary: 'List events',
    description:
      'What webhooks say, for 30 days, whether anybody is subscribed or not: newest first, or with `after` what is newer than a cursor, oldest first and without a gap. A page looks through at most some 2 000 events: with a rare `type` it may be short or empty while `has_more` is true.',
  })
  @ApiOkResponse({ description: 'A page.', type: EventListBody })
  @ApiRefusal(400, UNKNOWN_CURSOR)
  async list(@CurrentScope() scope: Scope, @Query() query: EventsQuery): Promise<EventListBody> {
    const { after, starting_after: before, limit = 25 } = query;
    if (after !== undefined && before !== undefined) {
      throw invalidRequest([{ param: 'after', code: 'invalid', message: 'goes without starting_after' }]);
    }
    const filter = this.#filter(query);
    const { items, end, hasMore } =
      after === undefined
        ? await this.feed.older(scope, filter, cursorOf('starting_after', before), limit)
        : await this.feed.newer(scope, filter, cursorOf('after', after), limit);
    const isKept = hasMore || after !== undefined;
    return { object: 'list', data: [...items], has_more: hasMore, next_cursor: isKept ? cursorText(end) : null };
  }

  @Get('stream')
  @ApiOperation({
    summary: 'Follow events',
    description:
      'Server-sent events: the items of the list as they happen, each with its cursor as `id`. Begins after `Last-Event-ID`, else after `after`, else now; events of one subject come in their order, and one may come twice after a cut. A comment comes every 15 seconds, and the stream ends after a minute: ask again with the last `id`, as every EventSource does by itself.',
  })
  @ApiHeader({ name: 'Last-Event-ID', description: 'The last `id` that was received.', required: false })
  @ApiOkResponse({ description: 'The stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } })
  @ApiRefusal(400, UNKNOWN_CURSOR)
  @ApiRefusal(429, { too_many_streams: '50 streams of the account are open, or 10 of one person.' })
  async streamEvents(
    @CurrentScope() scope: Scope,
    @CurrentActor() actor: Actor,
    @Query() query: EventStreamQuery,
    @Headers('last-event-id') lastId: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    // A browser that has seen no event yet sends an empty one.
    const from = cursorOf('Last-Event-ID', lastId === '' ? undefined : lastId) ?? cursorOf('after', query.after);
    const userId = actor.type === 'member' ? actor.id : null;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (response.closed) gone.abort();
    const text = await this.streams.open(scope, userId, this.#filter(query), from, gone.signal);
    // nginx would keep the events until it has enough of them.
    response.setHeader('X-Accel-Buffering', 'no');
    return new StreamableFile(Readable.from(text), { type: 'text/event-stream; charset=utf-8' });
  }

  @PostOk(':id/resend')
  @AuditedAtDoor('payment.webhook_resent')
  @Costs(() => RESEND_TOKENS)
  @ApiOperation({
    summary: 'Send an event again',
    description:
      'To everybody who is subscribed now, under each of its names, as new deliveries, and to readers of the stream and the list with `resends=true`. It is the same business event, with the same `id` and `sequence`; its content is what a read would show now.',
  })
  @ApiParam({ name: 'id', description: '`evt_<32 hex>`, or the bare `<uuid>`.', schema: { type: 'string' } })
  @ApiOkResponse({ description: 'What was made of it.', type: ResentEventBody })
  async resendEvent(@CurrentScope() scope: Scope, @Param('id') id: string): Promise<ResentEventBody> {
    return this.feed.resend(scope, id);
  }

  #filter({ type, subject, created_after: after, resends }: EventStreamQuery): FeedFilter {
    if (subject !== undefined && resends === 'true') {
      throw invalidRequest([{ param: 'resends', code: 'invalid', message: 'goes without subject' }]);
    }
    const subjectId = subject?.replace(/^[a-z]+_/, '') ?? null;
    return this.feed.filter(type, subjectId, after ?? null, resends === 'true');
  }
}

/** @throws ApiError 400 */
function cursorOf(param: string, text: string): EventCursor;
function cursorOf(param: string, text: string | undefined): EventCursor | null;
function cursorOf(param: string, text: string | undefined): EventCursor | null {
  if (text === undefined) return null;
  const cursor = parseCursor(text);
  if (!cursor) throw invalidRequest([{ param, code: 'invalid', message: 'must be the cursor of an event' }]);
  return cursor;
}
