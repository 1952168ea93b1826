import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Log } from '../../../src/base/log.ts';
import type { RunId, WallMs } from '../../../src/base/pure/ids.ts';
import { openMemoryStore } from '../../../src/history/memory.ts';
import { openTelemetry } from '../../../src/telemetry/open.ts';
import { NO_HOST, telemetrySettings } from '../../../src/telemetry/settings.ts';
import { view } from '../../pure/cli/views.ts';
import { freePort } from '../../support/free-port.ts';
import { OtlpReceiver } from '../../support/otlp-receiver.ts';
import { promtoolMissing } from '../../support/prometheus.ts';
import { waitFor } from '../../support/wait-for.ts';

const GENEROUS_MS = 60_000;
const NAMES = { components: ['api', 'db'], checks: ['sandbox', 'token'] };

interface Given {
  readonly otlp?: string | null;
  /** Somebody is there who takes everything: however long that takes here. */
  readonly receives?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly store?: ReturnType<typeof openMemoryStore>;
}

function telemetryWorld({
  otlp = null,
  receives = false,
  env = {},
  store = openMemoryStore({ clock: systemClock }),
}: Given) {
  const lines: string[] = [];
  const keep = (message: string, data = {}) => void lines.push(`${message} ${JSON.stringify(data)}`);
  const log: Log = { info: keep, warn: keep, error: keep };
  const telemetry = openTelemetry({
    settings: telemetrySettings({ otlp, prometheus: true }, env),
    log,
    project: 'shop',
    instance: '/srv/shop/.keepwell',
    names: NAMES,
    host: NO_HOST,
    history: store,
    ...(receives ? { closeMs: GENEROUS_MS } : {}),
    components: () => [view('api', { state: 'running', ready: true }), view('db', { state: 'gave-up', ready: false })],
    daemon: () => ({ loopDelayMs: 12, startedAt: 1_700_000_000_000 }),
  });
  /** Written first and told then, as a daemon does it. */
  const tell = (type: string, data: Readonly<Record<string, unknown>>, run: string | null, name = 'api') => {
    const subject = { kind: 'component', name } as const;
    const at = Date.now() as WallMs;
    const events = store.commit({
      events: [{ at, subject, type: `component.${type}`, run: run as RunId | null, data }],
    });
    for (const event of events) telemetry.told(event);
  };
  const crash = (run: string, rule = 'backoff', name = 'api') =>
    tell('exited', { ...CRASH, rule, decision: `by ${rule}` }, run, name);
  return { telemetry, lines, tell, crash, store };
}

const CRASH = { exit: 'exit code 7', code: 7, signal: null, uptime_ms: 50, crash: true };

test('a restart arrives as one trace, read with the official definitions', async () => {
  await using receiver = await OtlpReceiver.open();
  const env = {
    OTEL_SERVICE_NAME: 'watch',
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=abc',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  };
  const { telemetry, tell, crash } = telemetryWorld({ otlp: receiver.url, receives: true, env });
  crash('api~1');
  tell('backing-off', { in_ms: 1_000 }, 'api~1');
  tell('starting', { attempt: 'restart' }, 'api~2');
  tell('started', { pid: 42 }, 'api~2');
  tell('ready', {}, 'api~2');
  await telemetry.close();
  expect(receiver.problems).toEqual([]);
  const root = receiver.spans.find(({ name }) => name === 'keepwell.restart')!;
  expect(root).toMatchObject({ parentSpanId: '', status: { code: 'STATUS_CODE_UNSET' } });
  expect(root.resource).toMatchObject({ 'service.name': 'watch', 'keepwell.project': 'shop' });
  expect(root.attributes).toMatchObject({
    ...{ 'component.name': 'api', 'episode.cause': 'exit code 7', 'episode.outcome': 'recovered' },
    ...{ 'episode.restarts': 1, 'run.ids': ['api~1', 'api~2'] },
  });
  const children = receiver.traceOf(root).filter(({ parentSpanId }) => parentSpanId === root.spanId);
  expect(children.map(({ name }) => name).sort()).toEqual(
    ['backoff', 'exit', 'ready', 'start'].map((kind) => `keepwell.restart.${kind}`),
  );
  const exit = children.find(({ name }) => name === 'keepwell.restart.exit')!;
  expect(exit.attributes).toMatchObject({ 'exit.code': 7, 'decision.rule': 'backoff', 'run.id': 'api~1' });
  expect(exit.status).toEqual({ code: 'STATUS_CODE_ERROR', message: 'exit code 7' });
  for (const child of children) {
    expect(child.fromMs).toBeGreaterThanOrEqual(root.fromMs);
    expect(child.toMs).toBeLessThanOrEqual(root.toMs);
  }
  expect(receiver.headers[0]).toMatchObject({ 'api-key': 'abc', 'content-encoding': 'gzip' });
});

test('an episode that was open when its daemon died is told whole by the next one, and told once', async () => {
  await using receiver = await OtlpReceiver.open();
  const first = telemetryWorld({ otlp: receiver.url });
  first.crash('api~1');
  first.tell('backing-off', { in_ms: 1_000 }, 'api~1');
  // Nobody closes the first one: it was killed.
  const second = telemetryWorld({ otlp: receiver.url, receives: true, store: first.store });
  second.tell('starting', { attempt: 'restart' }, 'api~2');
  second.tell('started', { pid: 42 }, 'api~2');
  second.tell('ready', {}, 'api~2');
  await second.telemetry.close();
  await telemetryWorld({ otlp: receiver.url, receives: true, store: first.store }).telemetry.close();
  const roots = receiver.spans.filter(({ name }) => name === 'keepwell.restart');
  expect(roots).toHaveLength(1);
  expect(receiver.traceOf(roots[0]!)).toHaveLength(5);
});

test('a report of the checks is a trace with a child for each, and is counted', async () => {
  await using receiver = await OtlpReceiver.open();
  const { telemetry } = telemetryWorld({ otlp: receiver.url, receives: true });
  const began = Date.now() as WallMs;
  const report = telemetry.checks.reportStarted(began);
  const sandbox = { status: 'failed', message: 'container stopped' } as const;
  const token = { status: 'skipped', message: 'sandbox not running' } as const;
  report.checkFinished({ name: 'sandbox', result: sandbox, beganAt: began, tookMs: 12 });
  report.checkFinished({ name: 'token', result: token, beganAt: began, tookMs: 0 });
  report.checkFinished({ name: 'not-ours', result: token, beganAt: began, tookMs: 0 });
  report.reportFinished({ status: 'unhealthy', timestamp: '', checks: { sandbox, token } }, 13);
  await telemetry.close();
  const root = receiver.spans.find(({ name }) => name === 'orchestrator.health')!;
  const child = receiver.spans.find(({ name }) => name === 'orchestrator.health.sandbox')!;
  expect(child).toMatchObject({ parentSpanId: root.spanId, traceId: root.traceId });
  expect(child.attributes).toEqual({
    ...{ 'check.name': 'sandbox', 'check.status': 'failed', 'check.message': 'container stopped' },
  });
  expect(child.toMs - child.fromMs).toBeCloseTo(12, 0);
  expect(receiver.value('orchestrator_health_checks_total', { check: 'sandbox' })).toBe(1);
  expect(receiver.value('orchestrator_health_check_status', { check: 'sandbox' })).toBe(0);
  expect(receiver.value('orchestrator_health_checks_total', { check: 'not-ours' })).toBeUndefined();
});

test.skipIf(promtoolMissing !== null)('the metrics are text that promtool has nothing to say against', async () => {
  const { telemetry, tell, crash } = telemetryWorld({});
  crash('api~1');
  tell('starting', { attempt: 'restart' }, 'api~2');
  crash('db~1', 'observed', 'db');
  tell('starting', { attempt: 'restart' }, 'db~2', 'db');
  telemetry.probed('api', 'liveness', 3);
  telemetry.probed('stranger', 'liveness', 3);
  const text = (await telemetry.metrics())!;
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect(`${checked.stdout}${checked.stderr}`).toBe('');
  expect(checked.status).toBe(0);
  for (const line of [
    'keepwell_component_up{component="api"} 1',
    'keepwell_component_gave_up{component="db"} 1',
    'keepwell_component_restarts_total{component="api"} 1',
    'keepwell_component_crashes_total{component="db"} 1',
    'keepwell_component_restarts_total{component="db"} 0',
    'keepwell_probe_duration_seconds_bucket{component="api",role="liveness",le="0.005"} 1',
    'keepwell_daemon_loop_delay_seconds 0.012',
    'orchestrator_health_checks_total{check="token"} 0',
  ])
    expect(text.split('\n')).toContain(line);
  expect(text).not.toContain('stranger');
  telemetry.named({ ...NAMES, components: ['api'] });
  const after = (await telemetry.metrics())!;
  expect(after).not.toContain('"db"');
  expect(after).toContain('keepwell_component_restarts_total{component="api"} 1');
  await telemetry.close();
});

/** Enough to fill everything that holds spans back. */
const MANY = 3_000;

test.each(['nobody listens', 'no answer ever comes', 'it refuses', 'it is overloaded'] as const)(
  'when %s, that is said once and nothing else is affected',
  async (how) => {
    await using receiver = await OtlpReceiver.open();
    receiver.status = how === 'it refuses' ? 404 : how === 'it is overloaded' ? 503 : 'never';
    const otlp = how === 'nobody listens' ? `http://127.0.0.1:${await freePort()}` : receiver.url;
    const env = { OTEL_EXPORTER_OTLP_TIMEOUT: '200', OTEL_METRIC_EXPORT_INTERVAL: '100' };
    const { telemetry, lines, crash, tell } = telemetryWorld({ otlp: otlp.replace('//', '//user:secret@'), env });
    for (let i = 0; i < MANY; i += 1) {
      crash(`api~${i}`);
      tell('gave-up', { rule: 'limit', decision: 'gave up' }, `api~${i}`);
    }
    await waitFor('a line in the log', () => lines.length > 0);
    expect(await telemetry.metrics()).toContain('keepwell_component_up');
    await telemetry.close();
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/telemetry cannot be delivered/);
    expect(lines[0]).not.toMatch(/secret/);
  },
);

test('after an outage what is new arrives again, and the next outage is said again', async () => {
  await using receiver = await OtlpReceiver.open();
  receiver.status = 404;
  const env = { OTEL_METRIC_EXPORT_INTERVAL: '100', OTEL_TRACES_EXPORTER: 'none' };
  const { telemetry, lines } = telemetryWorld({ otlp: receiver.url, env });
  await waitFor('the first outage', () => lines.length === 1);
  receiver.status = 200;
  await waitFor('metrics', () => receiver.value('keepwell_component_up', { component: 'api' }) === 1);
  receiver.status = 404;
  await waitFor('the second outage', () => lines.length === 2);
  await telemetry.close();
});
