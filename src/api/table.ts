/** Every route there is. Tests enumerate it; the OpenAPI document is made from it. */
import type { Route } from './route.ts';
import { actionRoutes } from './routes/actions.ts';
import { agentRoutes } from './routes/agents.ts';
import { alertRoutes } from './routes/alerts.ts';
import { beatRoute } from './routes/beat.ts';
import { campaignRoutes } from './routes/campaigns.ts';
import { daemonRoutes, metricsRoutes } from './routes/daemon.ts';
import { dashboardRoutes } from './routes/dashboard.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoutes } from './routes/health.ts';
import { historyRoutes } from './routes/history.ts';
import { incidentRoutes } from './routes/incidents.ts';
import { logRoutes } from './routes/logs.ts';
import { documentRoute } from './routes/openapi.ts';
import { overviewRoute } from './routes/overview.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { simulateRoute } from './routes/simulate.ts';
import { statusRoutes } from './routes/status.ts';
import { ticketRoutes } from './routes/tickets.ts';

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
