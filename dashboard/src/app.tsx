import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiFailure } from './api.js';
import { Languages } from './language.js';
import { router } from './router.js';
import { loadAllScreens } from './screens.js';

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Refusals are final; if the service was not reached, the request is tried again.
      retry: (count, error) =>
        error instanceof ApiFailure && (error.status === 0 || error.status >= 500 || error.status === 429)
          ? count < 60
          : false,
      retryDelay: (count) => Math.min(1_000 * 2 ** count, 5_000),
    },
  },
});

// Waits until the first screen has loaded.
setTimeout(loadAllScreens, 10_000);

const root = document.getElementById('root');
if (!root) throw new Error('The page has no #root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Languages>
        <RouterProvider router={router} />
      </Languages>
    </QueryClientProvider>
  </StrictMode>,
);
