// Vendure as `node vendure.js fill | server | worker`; this file is copied to where Vendure is installed.
import { join } from 'node:path';
import { bootstrap, bootstrapWorker, DefaultJobQueuePlugin, dummyPaymentHandler } from '@vendure/core';
import { populate } from '@vendure/core/cli/index.js';

const [role] = process.argv.slice(2);

const config = {
  apiOptions: {
    ...{ hostname: '127.0.0.1', port: Number(process.env.PORT), shopApiPath: 'shop-api', adminApiPath: 'admin-api' },
    cors: false,
  },
  authOptions: {
    tokenMethod: 'bearer',
    superadminCredentials: { identifier: 'bench', password: 'bench' },
  },
  dbConnectionOptions: { type: 'postgres', url: process.env.DATABASE_URL, synchronize: role === 'fill' },
  paymentOptions: { paymentMethodHandlers: [dummyPaymentHandler] },
  plugins: [DefaultJobQueuePlugin],
};

/** A single variant of a product (id 1), a single shipping method (id 1), and a single payment method (dummy). */
const data = {
  defaultLanguage: 'en',
  defaultZone: 'Americas',
  countries: [{ name: 'Brazil', code: 'BR', zone: 'Americas' }],
  taxRates: [{ name: 'Standard', percentage: 20 }],
  shippingMethods: [{ name: 'Standard', price: 500 }],
  paymentMethods: [
    {
      name: 'Dummy',
      handler: { code: dummyPaymentHandler.code, arguments: [{ name: 'automaticSettle', value: 'true' }] },
    },
  ],
  collections: [],
};

if (role === 'fill') {
  await (await populate(() => bootstrap(config), data, join(import.meta.dirname, 'products.csv'))).close();
  process.exit();
} else if (role === 'worker') {
  await (await bootstrapWorker(config)).startJobQueue();
} else {
  await bootstrap(config);
}
