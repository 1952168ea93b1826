/** Every route there is. Tests enumerate it; the OpenAPI document is made from it. */
import type { Route } from './route.ts';
import { actionRoutes } from './routes/actions.ts';
import { daemonRoutes } from './routes/daemon.ts';
import { eventRoutes } from './routes/events.ts';
import { historyRoutes } from './routes/history.ts';
import { logRoutes } from './routes/logs.ts';
import { documentRoute } from './routes/openapi.ts';
import { statusRoutes } from './routes/status.ts';

export const ROUTES: readonly Route[] = [
  ...statusRoutes,
  ...actionRoutes,
  ...historyRoutes,
  ...eventRoutes,
  ...logRoutes,
  ...daemonRoutes,
  documentRoute(() => ROUTES),
];
