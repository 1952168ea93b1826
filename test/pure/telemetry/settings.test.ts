import { expect, test } from 'vitest';
import { isOn, pairs, telemetrySettings } from '../../../src/telemetry/settings.ts';

const OFF = { otlp: null, prometheus: false };
const urls = (otlp: string | null, env: Record<string, string>) => {
  const settings = telemetrySettings({ otlp, prometheus: false }, env);
  return [settings.traces?.url ?? null, settings.metrics?.url ?? null];
};

test('nothing is asked for: it is off', () => {
  expect(isOn(telemetrySettings(OFF, {}))).toBe(false);
  expect(isOn(telemetrySettings(OFF, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ', OTEL_SERVICE_NAME: 'x' }))).toBe(false);
});

test.each([
  ['the configuration', 'http://c:1', {}, ['http://c:1/v1/traces', 'http://c:1/v1/metrics']],
  ['a base with a path', 'http://c:1/in/', {}, ['http://c:1/in/v1/traces', 'http://c:1/in/v1/metrics']],
  ['variables', null, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://e:2' }, ['http://e:2/v1/traces', 'http://e:2/v1/metrics']],
  ['one for a signal, as it is', null, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:3/x' }, ['http://t:3/x', null]],
  [
    'both: the configuration wins',
    'http://c:1',
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t:3/x', OTEL_METRICS_EXPORTER: 'none' },
    ['http://c:1/v1/traces', null],
  ],
  ['the exporter alone', null, { OTEL_TRACES_EXPORTER: 'otlp' }, ['http://localhost:4318/v1/traces', null]],
  ['switched off as a whole', 'http://c:1', { OTEL_SDK_DISABLED: 'true' }, [null, null]],
] as const)('where it goes, by %s', (_, otlp, env, wanted) => {
  expect(urls(otlp, env)).toEqual(wanted);
});

test('headers, time limit, compression and resource come from the variables', () => {
  const settings = telemetrySettings(
    { otlp: 'http://c:1', prometheus: true },
    {
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, tenant=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'tenant=2',
      OTEL_EXPORTER_OTLP_TIMEOUT: '250',
      OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: 'soon',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_METRIC_EXPORT_INTERVAL: '5000',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=ignored,team=blue',
      OTEL_SERVICE_NAME: 'watch',
    },
  );
  expect(settings.traces).toMatchObject({ headers: { 'api-key': 'a b', tenant: '2' }, timeoutMs: 250, gzip: true });
  expect(settings.metrics).toMatchObject({ headers: { tenant: '1' }, timeoutMs: 250 });
  expect(settings).toMatchObject({
    ...{ prometheus: true, intervalMs: 5_000 },
    resource: { 'service.name': 'watch', team: 'blue' },
  });
});

test.each([
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://e:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    /grpc, and only http\/protobuf/,
  ],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, /is not an http or https URL/],
])('what cannot be done is said, once for each signal', (env, said) => {
  const { traces, metrics, notes } = telemetrySettings(OFF, env);
  expect([traces, metrics]).toEqual([null, null]);
  expect(notes).toEqual([expect.stringMatching(said), expect.stringMatching(said)]);
});

test('a time that no timer can wait for is cut, not taken for none', () => {
  const year = { OTEL_METRIC_EXPORT_INTERVAL: '31536000000', OTEL_EXPORTER_OTLP_TIMEOUT: '31536000000' };
  const { intervalMs, traces } = telemetrySettings({ otlp: 'http://c:1', prometheus: false }, year);
  expect([intervalMs, traces?.timeoutMs]).toEqual([2 ** 31 - 1, 2 ** 31 - 1]);
});

test('pairs are read as they are meant, and what is none is left out', () => {
  expect(pairs('a=1,, =x,b = 2=3 ,c,d=50%')).toEqual({ a: '1', b: '2=3', d: '50%' });
});
