/** Alerts: by which ways people are told, and whether a message arrives. */
import { type Route, route } from '../route.ts';

export const alertRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/alerts',
    id: 'listAlerts',
    access: 'read',
    summary: 'Channels of the configuration with what is on its way to each, and alerts that are not over.',
    answer: 'Alerts',
    handler: ({ services }) => services.control.alerts.view(),
  }),
  route({
    method: 'POST',
    path: '/v1/alerts/test',
    id: 'testAlerts',
    access: 'control',
    summary: 'Sends a test message to every channel, once, and says what came of it.',
    answer: 'AlertTest',
    errors: ['NO_ALERT_CHANNELS'],
    handler: ({ services }) => services.control.alerts.test(),
  }),
];
