import { Injectable } from '@nestjs/common';

/** The only source of "now", so that a test can move time instead of waiting for it. */
@Injectable()
export class Clock {
  now(): Date {
    return new Date();
  }
}
