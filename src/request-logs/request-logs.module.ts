import { Module } from '@nestjs/common';
import { RequestLogsController } from './request-logs.controller.js';
import { RequestLogsRepository } from './request-logs.repository.js';
import { RequestLogsService } from './request-logs.service.js';
import { RequestRecorder } from './request-recorder.service.js';

@Module({
  controllers: [RequestLogsController],
  providers: [RequestLogsRepository, RequestLogsService, RequestRecorder],
  exports: [RequestLogsService],
})
export class RequestLogsModule {}
