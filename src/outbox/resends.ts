declare module './event.entity.js' {
  interface DomainEvents {
    'event.resent': {
      /** The events that were sent again, the preferred one first, see `EventConsumer.replay`. */
      readonly eventIds: readonly string[];
    };
  }
}

/**
 * Records a resend among the events, so that readers of the feed get it too. Endpoints get deliveries instead: this
 * type has no public name. Each resend is a subject of its own and leaves the numbers of other subjects alone.
 */
export const RESENT = 'event.resent';
