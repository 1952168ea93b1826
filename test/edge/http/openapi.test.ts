import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/table.ts';
import { ERRORS } from '../../../src/base/pure/errors.ts';
import { openapi as document, problemsWith } from '../../support/openapi.ts';
import { Served } from './serve.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is there
type Any = any;

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as object).map(([method, operation]) => ({ path, method, operation: operation as Any })),
);

/** Every object in the document, with the way to it. */
function* walk(value: unknown, at = '#'): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  for (const [key, inner] of Object.entries(value)) yield* walk(inner, `${at}/${key}`);
}

const resolve = (ref: string): unknown =>
  ref
    .replace(/^#\//, '')
    .split('/')
    .reduce<Any>((value, key) => value?.[key], document);

test('it is OpenAPI 3.1, and plain JSON', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(document.info).toMatchObject({ title: 'Keepwell', version: '0.1.0' });
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
});

test('every route is in it, and nothing else', () => {
  const described = operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`);
  expect(described.sort()).toEqual(ROUTES.map(({ path, method }) => `${method} ${path}`).sort());
});

test('every operation has a name of its own', () => {
  const ids = operations.map(({ operation }) => operation.operationId as string);
  for (const id of ids) expect(id).toMatch(/^[a-z][A-Za-z]+$/);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every reference leads somewhere, and every named schema is used', () => {
  const used = new Set<string>();
  for (const [at, object] of walk(document)) {
    if (typeof object['$ref'] !== 'string') continue;
    expect(resolve(object['$ref']), `${at} → ${object['$ref']}`).toBeTypeOf('object');
    used.add(object['$ref'].replace('#/components/schemas/', ''));
  }
  expect([...used].sort()).toEqual(Object.keys(document.components.schemas).sort());
});

test('nothing of zod or of ours is left in the schemas', () => {
  for (const [at, object] of walk(document)) {
    for (const key of ['$schema', '$id', '$defs', 'documented']) expect(object, at).not.toHaveProperty(key);
    expect(object['additionalProperties'], at).not.toBe(false);
  }
});

describe.each(operations)('$method $path', ({ path, method, operation }) => {
  test('describes its parameters', () => {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = operation.parameters.filter((one: Any) => one.in === 'path');
    expect(inPath.map((one: Any) => one.name)).toEqual(named);
    for (const one of operation.parameters) {
      expect(one.description, one.name).toMatch(/\.$/);
      expect(one.schema, one.name).toHaveProperty('type');
      if (one.in === 'path') expect(one.required).toBe(true);
    }
  });

  test('has a schema for every answer and an example for every good one', () => {
    const good = Object.entries<Any>(operation.responses).filter(([status]) => status.startsWith('2'));
    expect(good).toHaveLength(1);
    const isText = path === '/metrics';
    for (const [status, { description, content }] of Object.entries<Any>(operation.responses)) {
      expect(description, status).not.toBe('');
      const type = isText && status === '200' ? 'text/plain; version=0.0.4; charset=utf-8' : 'application/json';
      expect(content[type].schema, status).toBeTypeOf('object');
    }
    if (isText) return;
    const { schema } = good[0]![1].content['application/json'];
    if (path !== '/openapi.json') expect((resolve(schema.$ref) as Any).examples).toHaveLength(1);
  });

  test('names its errors by codes that exist, under the status of the error table', () => {
    const statuses = Object.entries<Any>(operation.responses).filter(([status]) => Number(status) >= 400);
    for (const [status, { description, content }] of statuses) {
      if (content['application/json'].schema.$ref !== '#/components/schemas/Error') continue;
      for (const code of description.split(', ')) {
        expect((ERRORS as Any)[code]?.httpStatus, code).toBe(Number(status));
      }
    }
  });

  test('takes a body only where one is read', () => {
    expect(operation.requestBody !== undefined).toBe(method === 'post');
  });
});

test('every example is true to its schema', () => {
  for (const { path, body } of ROUTES) {
    const { examples = [] } = (body.meta() ?? {}) as { examples?: readonly unknown[] };
    for (const example of examples) expect(body.safeParse(example).error, path).toBeUndefined();
  }
  for (const [name, schema] of Object.entries<Any>(document.components.schemas))
    for (const example of schema.examples ?? []) expect(problemsWith(schema, example), name).toEqual([]);
});

describe('as it is served', () => {
  let served: Served;
  beforeAll(async () => {
    served = await Served.open();
  });
  afterAll(() => served[Symbol.asyncDispose]());

  test('it is the same, every time', async () => {
    for (const _ of [1, 2]) {
      const { status, json } = await served.ask('GET', '/openapi.json');
      expect(status).toBe(200);
      expect(json).toEqual(document);
    }
  });
});

test('an answer with a key that is not in the document, or without one that is, would be noticed', () => {
  const { Alive, Subject } = document.components.schemas;
  expect(problemsWith(Alive, { schema_version: 1, status: 'ok' })).toEqual([]);
  expect(problemsWith(Alive, { schema_version: 1, status: 'ok', more: 1 })).toHaveLength(1);
  expect(problemsWith(Alive, { schema_version: 1 })).toHaveLength(1);
  expect(problemsWith(Subject, { kind: 'something', name: 'api' })).toHaveLength(1);
  expect(
    problemsWith({ $ref: '#/components/schemas/Events' }, { schema_version: 1, last_seq: 0.5, events: [] }),
  ).toHaveLength(1);
});

test('a handler that answers something else than its row says does not compile', () => {
  const alive = { method: 'GET', path: '/', id: 'a', access: 'read', summary: 'A.', answer: 'Alive' } as const;
  route({ ...alive, handler: () => ({ schema_version: 1, status: 'ok' }) });
  // @ts-expect-error a field is missing
  route({ ...alive, handler: () => ({ schema_version: 1 }) });
  // @ts-expect-error another value
  route({ ...alive, handler: () => ({ schema_version: 1, status: 'fine' }) });
  const { access: _, ...unsaid } = alive;
  // @ts-expect-error it does not say who may ask
  route({ ...unsaid, handler: () => ({ schema_version: 1, status: 'ok' }) });
  // @ts-expect-error no such shape
  route({ ...alive, answer: 'Alife', handler: () => ({ schema_version: 1, status: 'ok' }) });
});
