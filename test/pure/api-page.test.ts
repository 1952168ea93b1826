/** The page about the API says that its table is closed: then it must have every route, and no other. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the table of routes has what the OpenAPI document has', () => {
  const { paths } = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const page = readFileSync('docs/guide/api.md', 'utf8');
  const [, table = ''] = page.split('\n## Routes\n');
  const listed = [...table.split('\n## ')[0]!.matchAll(/^\| (GET|POST) +\| ([^|]*)\|/gm)].flatMap(([, method, cell]) =>
    [...cell!.matchAll(/`([^`?]+)[^`]*`/g)].map(([, path]) => `${method} ${path}`),
  );
  expect(listed.sort()).toEqual(described.sort());
});
