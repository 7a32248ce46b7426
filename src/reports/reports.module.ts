import { Module } from '@nestjs/common';
import { AccountsModule } from '../accounts/index.js';
import { workers } from '../core/work/index.js';
import { OutboxModule } from '../outbox/index.js';
import { StorageModule } from '../storage/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { WalletsModule } from '../wallets/index.js';
import { MonthlyClosingProcessor } from './monthly-closing.processor.js';
import { MonthlyClosingMails } from './monthly-closing-mails.service.js';
import { MonthlyClosings } from './monthly-closings.service.js';
import { ReportProcessor } from './report.processor.js';
import { ReportEvents } from './report.events.js';
import { ReportRowsRepository } from './report-rows.repository.js';
import { ReportMaker } from './report-maker.service.js';
import { ReportWriter } from './report-writer.service.js';
import { ReportsController } from './reports.controller.js';
import { ReportsRepository } from './reports.repository.js';
import { ReportsService } from './reports.service.js';

@Module({
  imports: [AccountsModule, OutboxModule, StorageModule, TransactionsModule, WalletsModule],
  controllers: [ReportsController],
  providers: [
    ...[ReportsRepository, ReportRowsRepository, ReportWriter, ReportMaker, ReportsService, ReportEvents],
    ...[MonthlyClosings, MonthlyClosingMails],
    ...workers(ReportProcessor, MonthlyClosingProcessor),
  ],
  exports: [ReportsService, ReportWriter],
})
export class ReportsModule {}
