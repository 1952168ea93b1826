/** Every route there is. Tests enumerate it; the reference is made from it. */
import type { Route } from './route.ts';
import { actionRoutes } from './routes/actions.ts';
import { eventRoutes } from './routes/events.ts';
import { historyRoutes } from './routes/history.ts';
import { statusRoutes } from './routes/status.ts';

export const ROUTES: readonly Route[] = [...statusRoutes, ...actionRoutes, ...historyRoutes, ...eventRoutes];
