/** The metrics, for Prometheus: the one answer that is text. */
import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import { sendText } from '../reply.ts';
import { type Route, route, STREAMING } from '../route.ts';
import { NO_BODY, NO_QUERY } from '../schemas.ts';

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/metrics',
    id: 'getMetrics',
    summary: 'The metrics as Prometheus text.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: z.string().meta({ examples: ['keepwell_component_up{component="api"} 1\n'] }),
    text: PROMETHEUS_TEXT,
    errors: ['METRICS_OFF'],
    handler: async ({ services, response }): Promise<typeof STREAMING> => {
      const text = services.metrics();
      if (text === null) throw new AppError('METRICS_OFF');
      sendText(response, PROMETHEUS_TEXT, await text);
      return STREAMING;
    },
  }),
];
