import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage, type RequestOptions } from 'node:http';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { metrics, trace } from '@opentelemetry/api';
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { expect, test } from 'vitest';
import { Keepwell } from '../../src/index.ts';
import { freePort } from '../support/free-port.ts';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts';
import { isAlive, kill, TestProject } from '../support/project.ts';
import { promtoolMissing } from '../support/prometheus.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const SLEEPER = 'process: { command: [sleep, "1000"] }';

/** Writes down what is loaded that has to do with telemetry. */
const HOOK = `const Module = require('node:module');
const load = Module._load;
Module._load = function (name, ...rest) {
  if (/telemetry[^/]*$|opentelemetry/.test(name)) require('node:fs').appendFileSync(process.env.LOADED, name + '\\n');
  return load.call(this, name, ...rest);
};
`;

interface Fetched {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly text: string;
}

async function fetched(options: string | URL | RequestOptions): Promise<Fetched> {
  const [answer] = (await once(get(options), 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  return { status: answer.statusCode, type: answer.headers['content-type'], text };
}

const socketOf = (project: TestProject): string =>
  (JSON.parse(project.read('.keepwell/daemon.json')) as { socket: string }).socket;

const scrape = (project: TestProject): Promise<Fetched> =>
  fetched({ socketPath: socketOf(project), path: '/metrics', headers: { Host: 'localhost' } });

const roots = (spans: readonly ReceivedSpan[]) => spans.filter(({ name }) => name === 'keepwell.restart');

test('nothing of it is loaded until somebody asks for it, and a reload is enough to ask', async () => {
  using dir = tempDir();
  writeFileSync(dir.at('hook.cjs'), HOOK);
  writeFileSync(dir.at('loaded'), '');
  const env = { NODE_OPTIONS: `--require=${dir.at('hook.cjs')}`, LOADED: dir.at('loaded') };
  const components = `components: { api: { ${SLEEPER}, liveness: { pid: {}, period: 100ms } } }\n`;
  await using project = new TestProject(components, env);
  await project.ok('up');
  const off = await scrape(project);
  expect(off).toMatchObject({ status: 404, text: expect.stringContaining('METRICS_OFF') });
  expect(off.text).toContain('telemetry: { prometheus: true }');
  expect(readFileSync(dir.at('loaded'), 'utf8')).toBe('');
  project.configure(`telemetry: { prometheus: true }\n${components}`);
  expect(JSON.parse(await project.ok('-o', 'json', 'reload'))).toMatchObject({
    settings: ['telemetry'],
    restarted: [],
  });
  const on = await waitFor('an answer to be measured', async () => {
    const answer = await scrape(project);
    return answer.text.includes('keepwell_probe_duration_seconds_count{component="api"') ? answer : null;
  });
  expect(on).toMatchObject({ status: 200, type: 'text/plain; version=0.0.4; charset=utf-8' });
  expect(on.text).toContain('keepwell_component_up{component="api"} 1\n');
  expect(readFileSync(dir.at('loaded'), 'utf8')).toMatch(/telemetry\.cjs\n$/);
  project.configure(components);
  await project.ok('reload');
  expect((await scrape(project)).status).toBe(404);
});

test('one trace tells of a component that is given up, over the death of the daemon in the middle of it', async () => {
  await using receiver = await OtlpReceiver.open();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '200' };
  await using project = new TestProject(
    `telemetry: { otlp: "\${OTEL_EXPORTER_OTLP_ENDPOINT:-}" }
components:
  api:
    process: { command: [sh, -c, "exit 7"] }
    restart: { backoff: { initial: 3s, jitter: 0 }, limit: { max: 1, retry: never } }
`,
    env,
  );
  await project.ok('up', '--no-wait');
  // Not by asking for its state: the answer may come when the three seconds are over.
  await waitFor('it to back off', () => project.read('.keepwell/daemon.log').includes('restart in'));
  kill(project.daemonPid()!);
  const [root] = await waitFor('the trace', () => (roots(receiver.spans).length > 0 ? roots(receiver.spans) : null));
  const children = await waitFor('all of it', () => {
    const found = receiver.traceOf(root!).filter(({ parentSpanId }) => parentSpanId === root!.spanId);
    return found.length === 5 ? found : null;
  });
  expect(root!.attributes).toMatchObject({
    'episode.outcome': 'gave-up',
    'episode.restarts': 1,
    'decision.rule': 'limit',
  });
  expect(children.map(({ name }) => name.replace('keepwell.restart.', '')).sort()).toEqual([
    'backoff',
    'exit',
    'exit',
    'ready',
    'start',
  ]);
  const backoff = children.find(({ name }) => name.endsWith('backoff'))!;
  expect(backoff.toMs - backoff.fromMs).toBeGreaterThanOrEqual(2_900);
  expect(roots(receiver.spans)).toHaveLength(1);
  expect(receiver.problems).toEqual([]);
});

test('the checks are traced also where there is no daemon', async () => {
  await using receiver = await OtlpReceiver.open();
  await using project = new TestProject(
    `telemetry: { otlp: "${receiver.url}" }\nchecks:\n  here: { file_exists: keepwell.yaml }\n  gone: { file_exists: nothing }\n`,
  );
  // Half a second is all that anybody waits for a receiver, so on a busy machine it may take more than one try.
  const span = await waitFor('its span', async () => {
    expect((await project.cli('health')).code).toBe(1);
    return receiver.spans.find(({ name }) => name === 'orchestrator.health.gone');
  });
  expect(span.attributes).toMatchObject({ 'check.name': 'gone', 'check.status': 'failed' });
  // Apart from the daemon's: it counts the same checks.
  expect(span.resource['service.instance.id']).toMatch(/\/\.keepwell#health$/);
});

test('a receiver that never answers holds up nobody, and is mentioned once', async () => {
  await using receiver = await OtlpReceiver.open();
  receiver.status = 'never';
  const env = {
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    OTEL_EXPORTER_OTLP_TIMEOUT: '1000',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  await using project = new TestProject(
    `telemetry: { otlp: "${receiver.url}" }\ncomponents: { api: { ${SLEEPER} } }\n`,
    env,
  );
  await project.ok('up');
  const pid = project.daemonPid()!;
  const mentioned = () => project.read('.keepwell/daemon.log').split('telemetry cannot be delivered').length - 1;
  await waitFor('a line in the log', () => mentioned() > 0);
  await project.ok('restart', 'api');
  await project.ok('down');
  await waitFor('the daemon to be gone', () => !isAlive(pid));
  expect(mentioned()).toBe(1);
});

/** Ends with the test. */
async function started(command: string, args: readonly string[]): Promise<ChildProcess & AsyncDisposable> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child, 'spawn');
  const end = async () => {
    const gone = once(child, 'exit');
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await gone;
  };
  return Object.assign(child, { [Symbol.asyncDispose]: end });
}

test.skipIf(promtoolMissing !== null)("Debian's Prometheus scrapes it through the proxy of the example", async () => {
  using dir = tempDir();
  await using project = new TestProject(`telemetry: { prometheus: true }\ncomponents: { api: { ${SLEEPER} } }\n`);
  await project.ok('up');
  const proxyFile = resolve('examples/prometheus/metrics-proxy.mjs');
  await using proxy = await started(process.execPath, [proxyFile, '0', socketOf(project)]);
  const [line] = (await once(createInterface(proxy.stdout!), 'line')) as [string];
  const target = new URL(line.split(' ').at(-1)!);
  expect((await fetched(new URL('/v1/status', target))).status).toBe(404);
  writeFileSync(
    dir.at('prometheus.yml'),
    readFileSync('examples/prometheus/prometheus.yml', 'utf8')
      .replace('127.0.0.1:9464', target.host)
      .replace('scrape_interval: 15s', 'scrape_interval: 1s')
      .replace('alerts.yml', resolve('examples/prometheus/alerts.yml')),
  );
  const port = await freePort();
  const args = [`--config.file=${dir.at('prometheus.yml')}`, `--storage.tsdb.path=${dir.at('data')}`];
  await using _prometheus = await started('prometheus', [...args, `--web.listen-address=127.0.0.1:${port}`]);
  const found = await waitFor('Prometheus to know it', async () => {
    const query = `http://127.0.0.1:${port}/api/v1/query?query=keepwell_component_up`;
    const answer = await fetched(query).catch(() => null);
    const { data } = JSON.parse(answer?.status === 200 ? answer.text : '{}') as {
      data?: { result: { metric: Record<string, string>; value: [number, string] }[] };
    };
    return data?.result[0];
  });
  expect(found).toMatchObject({ metric: { component: 'api', job: 'keepwell' }, value: [expect.any(Number), '1'] });
});

test('in another program, what that has set up is used', async () => {
  using dir = tempDir();
  const spans = new InMemorySpanExporter();
  const exporter = new InMemoryMetricExporter(0);
  const reader = new PeriodicExportingMetricReader({ exporter });
  const meters = new MeterProvider({ readers: [reader] });
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(meters);
  try {
    const api = { process: { command: ['sh', '-c', 'exit 7'] }, restart: { limit: { max: 0 } } };
    await using _keepwell = await Keepwell.open({ name: 'host', components: { api } }, { cwd: dir.path });
    const root = await waitFor('its span', () =>
      spans.getFinishedSpans().find(({ name }) => name === 'keepwell.restart'),
    );
    expect(root.attributes).toMatchObject({ 'component.name': 'api', 'episode.outcome': 'gave-up' });
    await reader.forceFlush();
    const names = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
    expect(names.map(({ descriptor }) => descriptor.name)).toContain('keepwell_component_up');
  } finally {
    trace.disable();
    metrics.disable();
    await meters.shutdown();
  }
});
