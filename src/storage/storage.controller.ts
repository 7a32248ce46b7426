import { Controller, Get, Header, HttpCode, Param, Put, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { LimitPerIp, Public } from '../auth/index.js';
import { ApiErrors, ApiRefusal, ReadsBody } from '../core/http/index.js';
import { DiskFiles } from './disk-files.service.js';
import type { LinkQuery } from './disk-links.js';

const FILE = { type: 'string' as const, format: 'binary' };
const KEY = { name: 'key', description: 'Part of the signed URL.', schema: { type: 'string' as const } };
const SIGNATURE = {
  name: 'signature',
  description: 'Binds everything else in the URL; take the URL as it was given.',
  required: true,
  schema: { type: 'string' as const },
};
const EXPIRED = { forbidden: 'The URL has expired.' };
/** Headers of an uploaded file under our own host: no script runs, and another site may show the file as a picture. */
const FILE_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
  'Cache-Control': 'private, no-store',
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** Target of the storage's URLs if the storage is our own disk. */
@Public()
@ApiTags('Storage')
@Controller('storage')
export class StorageController {
  constructor(private readonly files: DiskFiles) {}

  @Put('uploads/:key')
  @LimitPerIp({ times: 10 })
  @HttpCode(200)
  @ReadsBody()
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Upload a file to a signed URL',
    description:
      'What `upload_url` points to when files are kept by the service itself. Exactly the headers of `upload_headers`; no API key and no Authorization header: those are refused. Repeating it replaces the file, until the upload is completed.',
  })
  @ApiParam(KEY)
  @ApiQuery(SIGNATURE)
  // Why not @ApiConsumes: any type may have been agreed.
  @ApiBody({ description: 'The file.', schema: FILE })
  @ApiOkResponse({ description: 'Uploaded; complete it.' })
  @ApiErrors('invalid_request', 'not_found', 'internal_error', 'service_unavailable')
  @ApiRefusal(403, EXPIRED)
  @ApiRefusal(409, { upload_closed: 'The upload has been completed.' })
  uploadFile(@Param('key') key: string, @Query() query: LinkQuery, @Req() request: Request): Promise<void> {
    return this.files.receive(key, query, request.headers, request);
  }

  @Get('objects/:key/:id')
  @LimitPerIp({ times: 10 })
  @ApiOperation({
    summary: 'Download a file by a signed URL',
    description: 'What `view_url` points to when files are kept by the service itself.',
  })
  @ApiParam(KEY)
  @ApiParam({ ...KEY, name: 'id' })
  @ApiQuery(SIGNATURE)
  @ApiOkResponse({
    description: 'The file, as an attachment of the type that was agreed.',
    content: { '*/*': { schema: FILE } },
  })
  @ApiErrors('not_found', 'internal_error', 'service_unavailable')
  @ApiRefusal(403, EXPIRED)
  async downloadFile(
    @Param('key') key: string,
    @Param('id') id: string,
    @Query() query: LinkQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const { stream, headers } = await this.files.read(`${key}/${id}`, query);
    response.setHeaders(new Map(Object.entries({ ...FILE_HEADERS, ...headers })));
    return new StreamableFile(stream);
  }
}
