/**
 * Every object of every golden by the OpenAPI document of Kubernetes 1.20: no key that it does not know, no value of another type, nothing
 * missing. The gRPC probe is newer than that document (1.24), so it is described here by hand.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { FIXTURES, renderFixture } from './support.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
}

const { roots, definitions } = JSON.parse(readFileSync('test/fixtures/kubernetes/openapi-1.20.json', 'utf8')) as {
  readonly roots: Readonly<Record<string, string>>;
  readonly definitions: Record<string, Schema>;
};

const PROBE = 'io.k8s.api.core.v1.Probe';
const GRPC: Schema = {
  type: 'object',
  required: ['port'],
  properties: { port: { type: 'integer' }, service: { type: 'string' } },
};
definitions[PROBE] = { ...definitions[PROBE], properties: { ...definitions[PROBE]!.properties, grpc: GRPC } };

function problems(schema: Schema, value: unknown, at: string): readonly string[] {
  if (schema.$ref !== undefined) return problems(definitions[schema.$ref.split('/').at(-1)!]!, value, at);
  if (schema.format === 'int-or-string')
    return ['number', 'string'].includes(typeof value) ? [] : [`${at}: neither number nor text`];
  const type = Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value;
  if (schema.type !== undefined && schema.type !== type) return [`${at}: ${type} instead of ${schema.type}`];
  if (Array.isArray(value)) return value.flatMap((item, index) => problems(schema.items!, item, `${at}[${index}]`));
  if (type !== 'object') return [];
  const given = value as Readonly<Record<string, unknown>>;
  const missing = (schema.required ?? []).filter((key) => !(key in given)).map((key) => `${at}.${key}: missing`);
  const wrong = Object.entries(given).flatMap(([key, inner]) => {
    const field = schema.properties?.[key] ?? schema.additionalProperties;
    return field ? problems(field, inner, `${at}.${key}`) : [`${at}.${key}: unknown`];
  });
  return [...missing, ...wrong];
}

const check = (object: { readonly kind: string }) => problems(definitions[roots[object.kind]!]!, object, object.kind);

describe.each(FIXTURES)('the objects of %s', (name) => {
  test.each(['refer', 'include'] as const)('are as Kubernetes describes them (secrets: %s)', (secrets) => {
    for (const { object } of renderFixture(name, { secrets }).objects) expect(check(object)).toEqual([]);
  });
});

test('a wrong object is found out', () => {
  const wrong = { kind: 'Deployment', metadata: { nam: 'a' }, spec: { replicas: '1', selector: {}, template: {} } };
  expect(check(wrong)).toEqual([
    'Deployment.metadata.nam: unknown',
    'Deployment.spec.replicas: string instead of integer',
  ]);
});

// biome-ignore-start lint/suspicious/noExplicitAny: objects of many shapes, looked into at many places
const objectsOf = (name: string): readonly any[] =>
  renderFixture(name, { secrets: 'include' }).objects.map(({ object }) => object);
const isWorkload = ({ kind }: { readonly kind: string }): boolean => ['Deployment', 'Job'].includes(kind);

/** What the pod refers to, as kind/name. */
function referredBy({ containers: [{ env = [], envFrom = [] }], volumes = [] }: any): readonly string[] {
  return [
    ...env.flatMap(({ valueFrom }: any) => (valueFrom ? [`Secret/${valueFrom.secretKeyRef.name}`] : [])),
    ...envFrom.map(({ secretRef }: any) => `Secret/${secretRef.name}`),
    ...volumes.flatMap(({ configMap }: any) => (configMap ? [`ConfigMap/${configMap.name}`] : [])),
    ...volumes.flatMap(({ secret }: any) => (secret ? [`Secret/${secret.secretName}`] : [])),
  ];
}

describe.each(FIXTURES)('what the document does not say and the server refuses, in %s:', (name) => {
  const all = objectsOf(name);
  const names = all.map(({ kind, metadata }) => `${kind}/${metadata.name}`);

  test('two objects of one name', () => {
    expect(new Set(names).size).toBe(names.length);
  });

  test('references to what is not there', () => {
    for (const { spec } of all.filter(isWorkload)) {
      for (const referred of referredBy(spec.template.spec)) expect(names).toContain(referred);
      const [{ volumeMounts = [] }] = spec.template.spec.containers;
      const volumes = (spec.template.spec.volumes ?? []).map((volume: any) => volume.name);
      for (const mount of volumeMounts) expect(volumes).toContain(mount.name);
    }
  });

  test('names, labels, ports and thresholds that do not fit', () => {
    for (const { kind, metadata, spec } of all.filter(isWorkload)) {
      const { restartPolicy, containers } = spec.template.spec;
      const [{ ports = [], terminationMessagePolicy, startupProbe, livenessProbe }] = containers;
      expect(metadata.name).toMatch(/^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/);
      expect(spec.template.metadata.labels).toMatchObject(spec.selector?.matchLabels ?? {});
      expect(restartPolicy).toBe(kind === 'Job' ? 'Never' : 'Always');
      expect(terminationMessagePolicy).toBe('FallbackToLogsOnError');
      expect(new Set(ports.map((port: any) => port.name)).size).toBe(ports.length);
      expect([startupProbe, livenessProbe].map((probe) => probe?.successThreshold ?? 1)).toEqual([1, 1]);
    }
  });
});
// biome-ignore-end lint/suspicious/noExplicitAny: objects of many shapes, looked into at many places
