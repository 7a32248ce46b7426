import { applyDecorators, HttpCode, Post } from '@nestjs/common';

/** A POST that makes nothing to be read at an address of its own: it answers 200. */
export const PostOk = (path?: string): MethodDecorator => applyDecorators(Post(path), HttpCode(200));
