import { applyDecorators, HttpCode, Post } from '@nestjs/common';

/** A POST that creates no resource with an address of its own, so it answers 200 instead of 201. */
export const PostOk = (path?: string): MethodDecorator => applyDecorators(Post(path), HttpCode(200));
