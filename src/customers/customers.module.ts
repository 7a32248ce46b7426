import { Module } from '@nestjs/common';
import { PaymentsModule } from '../payments/index.js';
import { TransactionsModule } from '../transactions/index.js';
import { CustomersController } from './customers.controller.js';
import { CustomersRepository } from './customers.repository.js';
import { CustomersService } from './customers.service.js';

/** Customers: a view over sales that were paid, without a table of its own. */
@Module({
  imports: [PaymentsModule, TransactionsModule],
  controllers: [CustomersController],
  providers: [CustomersRepository, CustomersService],
})
export class CustomersModule {}
