import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { z } from 'zod';
import { ROUTES } from '../../../src/api/table.ts';
import { ERRORS } from '../../../src/base/pure/errors.ts';
import { Served } from './serve.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.open();
  served.control.written.set('api', ['a line']);
});
afterAll(() => served[Symbol.asyncDispose]());

/** Whatever comes in, what comes out is an answer the document describes, and never our own fault. */
function expectAnswer({ status, json }: { status: number; json: { error?: { code: string } } | null }): void {
  expect(status).not.toBe(500);
  expect(json).toBeTypeOf('object');
  if (status >= 400) expect(ERRORS).toHaveProperty(String(json?.error?.code));
  expect(served.logged).toEqual([]);
}

const words = [
  'api',
  'worker',
  '',
  '0',
  '1',
  '-1',
  '1e9',
  '999999999999999',
  'true',
  'null',
  '[]',
  'ready',
  'api:0',
  '\0',
  '💥',
];
const anyText = fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary', maxLength: 40 }));
const keysOf = (schema: z.ZodType): string[] => Object.keys((schema as unknown as { shape?: object }).shape ?? {});
const allKeys = [
  ...new Set(ROUTES.flatMap(({ query, body }) => [...keysOf(query), ...keysOf(body)])),
  '__proto__',
  'constructor',
];

/** Streams have no end, and waits take their time: those are for other tests. */
const isShort = (path: string): boolean => !/follow=true|\/v1\/wait/.test(path);

test('no query string makes a 500', async () => {
  const routes = fc.constantFrom(...ROUTES.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const pairs = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...allKeys), anyText), anyText), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(routes, anyText, pairs, async (path, parameter, query) => {
      const segment = encodeURIComponent(parameter) || 'x';
      const search = new URLSearchParams(query);
      const target = `${path.replace(/\{\w+\}/, segment)}?${search}`;
      fc.pre(isShort(target));
      expectAnswer(await served.ask('GET', target, { headers: { Accept: 'application/json' } }));
    }),
    { numRuns: 1_000 },
  );
});

test('no raw request target makes a 500', async () => {
  const visible = fc.string({ unit: fc.constantFrom(...'/?&=%#.:;,+@{}[]\\"\'<>|^`~ab0'), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(visible, async (tail) => {
      expectAnswer(await served.ask('GET', `/v1/logs${tail}`, { headers: { Accept: 'application/json' } }));
    }),
    { numRuns: 500 },
  );
});

test('no body makes a 500, and none but a good one is accepted', async () => {
  const posts = ROUTES.filter(({ method }) => method === 'POST');
  const values = fc.oneof(fc.jsonValue(), fc.array(fc.constantFrom('api', 'worker', 'nobody', ''), { maxLength: 3 }));
  const bodies = fc.oneof(fc.dictionary(fc.constantFrom(...allKeys), values), fc.jsonValue());
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), bodies, async ({ path, body: schema, success }, body) => {
      const text = JSON.stringify(body);
      const target = path.replace('{number}', '1');
      const answer = await served.ask('POST', target, { raw: text, headers: { 'Content-Type': 'application/json' } });
      expectAnswer(answer);
      const isGood = schema.safeParse(JSON.parse(text)).success;
      expect([success, 404].includes(answer.status)).toBe(isGood);
    }),
    { numRuns: 1_000 },
  );
});

test('no bytes make a 500', async () => {
  const posts = ROUTES.filter(({ method }) => method === 'POST').map(({ path }) => path);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...posts), fc.uint8Array({ maxLength: 200 }), async (path, bytes) => {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) };
      expectAnswer(await served.ask('POST', path, { raw: Buffer.from(bytes), headers }));
    }),
    { numRuns: 300 },
  );
});
