/** Every route there is. Tests enumerate it; the OpenAPI document is made from it. */
import type { Route } from './route.ts';
import { actionRoutes, beatRoute } from './routes/actions.ts';
import { agentRoutes } from './routes/agents.ts';
import { campaignRoutes } from './routes/campaigns.ts';
import { daemonRoutes, documentRoute, metricsRoutes } from './routes/daemon.ts';
import { dashboardRoutes, overviewRoute } from './routes/dashboard.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { historyRoutes } from './routes/history.ts';
import { alertRoutes, incidentRoutes, ticketRoutes } from './routes/incidents.ts';
import { logRoutes } from './routes/logs.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { simulateRoute } from './routes/simulate.ts';
import { statusRoutes } from './routes/status.ts';

export const ROUTES: readonly Route[] = [
  ...statusRoutes,
  overviewRoute,
  ...dashboardRoutes,
  ...healthRoutes,
  ...actionRoutes,
  beatRoute,
  simulateRoute,
  ...sessionRoutes,
  ...agentRoutes,
  ...incidentRoutes,
  ...alertRoutes,
  ...ticketRoutes,
  ...campaignRoutes,
  ...historyRoutes,
  ...eventRoutes,
  ...logRoutes,
  ...daemonRoutes,
  ...metricsRoutes,
  documentRoute,
];
