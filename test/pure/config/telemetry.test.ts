import { expect, test } from 'vitest';
import { linesOf, load } from './support.ts';

const WITH = (telemetry: string) => `telemetry: ${telemetry}\ncomponents: { a: { process: { command: [a] } } }\n`;

test.each([
  ['{}', {}, { otlp: null, prometheus: false }],
  ['{ otlp: "http://localhost:4318", prometheus: true }', {}, { otlp: 'http://localhost:4318', prometheus: true }],
  ['{ otlp: "" }', {}, { otlp: null, prometheus: false }],
  ['{ otlp: "${OTLP:-}" }', {}, { otlp: null, prometheus: false }],
  ['{ otlp: "${OTLP:-}" }', { OTLP: 'https://c/in' }, { otlp: 'https://c/in', prometheus: false }],
])('%s', (telemetry, env, wanted) => {
  expect(load(WITH(telemetry), { env }).telemetry).toEqual(wanted);
});

test('left out, it is off', () => {
  expect(load('components: { a: { process: { command: [a] } } }').telemetry).toEqual({ otlp: null, prometheus: false });
});

test.each([
  ['{ otlp: "localhost:4318" }', /telemetry\.otlp: "localhost:4318" lacks the scheme \| .*http:\/\/localhost:4318/],
  ['{ otlp: "grpc://localhost:4317" }', /begins with http:\/\/ or https:\/\/ \| gRPC is not spoken/],
  ['{ otlp: "http://c:1/?key=1" }', /without "\?" and "#"/],
  ['{ otlp: "http://" }', /"http:\/\/" is not a URL/],
  ['{ otlp: true }', /must be text/],
  ['{ prometheus: "yes" }', /must be true or false/],
  ['{ otpl: x }', /Did you mean "otlp"/],
])('%s is refused', (telemetry, said) => {
  expect(linesOf(WITH(telemetry))).toEqual([expect.stringMatching(said)]);
});
