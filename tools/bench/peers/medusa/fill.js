// Run by `medusa exec fill.js <file> <count>`: a publishable key and payment collections, written to the file as JSON.
import { writeFileSync } from 'node:fs';
import { ContainerRegistrationKeys, Modules } from '@medusajs/framework/utils';

const AT_ONCE = 1_000;

export default async function fill({ container, args: [file, count] }) {
  const [channel] = await container.resolve(Modules.SALES_CHANNEL).createSalesChannels([{ name: 'Web' }]);
  const [key] = await container
    .resolve(Modules.API_KEY)
    .createApiKeys([{ title: 'Web', type: 'publishable', created_by: 'bench' }]);
  await container.resolve(ContainerRegistrationKeys.LINK).create({
    [Modules.API_KEY]: { publishable_key_id: key.id },
    [Modules.SALES_CHANNEL]: { sales_channel_id: channel.id },
  });
  const collections = [];
  while (collections.length < Number(count)) {
    const made = Array.from({ length: AT_ONCE }, () => ({ currency_code: 'brl', amount: 19.9 }));
    collections.push(...(await container.resolve(Modules.PAYMENT).createPaymentCollections(made)));
  }
  writeFileSync(file, JSON.stringify({ key: key.token, collections: collections.map(({ id }) => id) }));
}
