import { expect, test } from 'vitest';
import { noticedWhen } from '../../../../src/simulate/rules/notice.ts';
import type { ProbeQuestion } from '../../../../src/supervision/rules/health/probe.ts';
import type { ComponentView } from '../../../../src/supervision/rules/views.ts';

const TCP: ProbeQuestion = { kind: 'tcp', host: '127.0.0.1', port: 1 };
const PID: ProbeQuestion = { kind: 'pid' };
const EXEC: ProbeQuestion = { kind: 'exec', command: ['./check'], cwd: '/' };
const UNWATCHED = { heartbeat: null, container_details: null };

const box = (health: NonNullable<ComponentView['container_details']>['health']) => ({
  heartbeat: null,
  container_details: {
    id: 'x',
    image: 'x',
    image_outdated: false,
    health,
    health_reason: null,
    ports: [],
    networks: [],
  },
});
const BEATING = {
  heartbeat: { source: 'ping', last_beat_at: null, silent_ms: 0, limit_ms: 1, problem: null },
  container_details: null,
};

test.each([
  ['nothing', UNWATCHED, null, null],
  ['a heartbeat', BEATING, null, 'its heartbeat is overdue'],
  ['a probe that asks the program', UNWATCHED, EXEC, 'its liveness probe fails'],
  ['a probe that the kernel answers: tcp', UNWATCHED, TCP, null],
  ['a probe that the kernel answers: pid', UNWATCHED, PID, null],
  ['two that the kernel answers', UNWATCHED, { kind: 'all_of', all: [TCP, PID] }, null],
  ['two, of which one asks the program', UNWATCHED, { kind: 'all_of', all: [TCP, EXEC] }, 'its liveness probe fails'],
  ['a health check of Docker', box('healthy'), null, "Docker's health check of it fails"],
  ['a container without health check', box('none'), null, null],
] as const)('who notices a hang: %s', (_, view, liveness, expected) => {
  expect(noticedWhen(view, liveness)).toBe(expected);
});
