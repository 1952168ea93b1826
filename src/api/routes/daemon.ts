/** The daemon about itself: version, alive, ready, metrics, and the description of its API. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { programFile } from '../../base/program-file.ts';
import { AppError } from '../../base/pure/errors.ts';
import { sendText } from '../reply.ts';
import { type Route, route, STREAMING, WithStatus } from '../route.ts';
import { V1 } from '../schemas.ts';

/** Whoever probes may add what it likes, such as a cache breaker. */
const ANY_QUERY = z.object({});

export const daemonRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/version',
    id: 'getVersion',
    access: 'read',
    summary: 'The version of the running daemon.',
    answer: 'Version',
    handler: ({ services }) => ({ ...V1, version: services.version }),
  }),
  route({
    method: 'GET',
    path: '/livez',
    id: 'isAlive',
    access: 'read',
    summary: 'Whether the daemon answers at all.',
    query: ANY_QUERY,
    answer: 'Alive',
    handler: () => ({ ...V1, status: 'ok' as const }),
  }),
  route({
    method: 'GET',
    path: '/readyz',
    id: 'isReady',
    access: 'read',
    summary: 'Whether the daemon supervises: it has adopted what earlier ones left, and it is not shutting down.',
    also: { 503: 'Not ready; the reasons are told.' },
    query: ANY_QUERY,
    answer: 'Ready',
    handler: ({ services }) => {
      const { daemon, components } = services.control.status();
      const reasons = services.unready();
      const facts = { reasons, store: daemon.store, components: components.length };
      if (reasons.length === 0) return { ...V1, status: 'ok' as const, ...facts };
      return new WithStatus(503, { ...V1, status: 'not-ready' as const, ...facts });
    },
  }),
];

// The metrics, for Prometheus: the one answer that is text.

const PROMETHEUS_TEXT = 'text/plain; version=0.0.4; charset=utf-8';

export const metricsRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/metrics',
    id: 'getMetrics',
    access: 'metrics',
    summary: 'The metrics as Prometheus text.',
    answer: 'Metrics',
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

/** `npm run reference` writes it from the table of routes and the types of the answers. */
export const documentRoute: Route = route({
  method: 'GET',
  path: '/openapi.json',
  id: 'getOpenApi',
  access: 'read',
  summary: 'This document: OpenAPI 3.1.',
  answer: 'Document',
  handler: () => JSON.parse(readFileSync(programFile('openapi.json'), 'utf8')),
});
