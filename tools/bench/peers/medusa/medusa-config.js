// Medusa's configuration; it is copied to where Medusa is installed.
import { defineConfig } from '@medusajs/framework/utils';

export default defineConfig({
  projectConfig: {
    databaseUrl: process.env.DATABASE_URL,
    http: { storeCors: '', adminCors: '', authCors: '', jwtSecret: 'bench', cookieSecret: 'bench' },
  },
  admin: { disable: true },
});
