/** What the loader takes, a program may write down: the types are made from the schema. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { KeepwellConfig } from '../../../src/index.ts';
import { readConfigInput } from '../../../src/library/read-config.ts';

test('a compose service is part of a configuration object', () => {
  const config: KeepwellConfig = {
    components: { web: { compose: { service: 'web', file: 'compose.yaml' }, restart: { policy: 'on-failure' } } },
  };
  const { components } = readConfigInput(config, { cwd: '/srv/shop' }).config;
  expect(components[0]).toMatchObject({ name: 'web', driver: { kind: 'compose', service: 'web' } });
});

test('every key of the schema stands in the types', () => {
  const types = ['components', 'features', 'input']
    .map((name) => readFileSync(`src/library/config-${name}.ts`, 'utf8'))
    .join('\n');
  const schema = JSON.parse(readFileSync('docs/reference/keepwell.schema.json', 'utf8')) as unknown;
  const keys = new Set<string>();
  const collect = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) collect(each);
    else if (node !== null && typeof node === 'object')
      for (const [key, value] of Object.entries(node)) {
        if (key === 'properties') for (const name of Object.keys(value as object)) keys.add(name);
        if (!['examples', 'default'].includes(key)) collect(value);
      }
  };
  collect(schema);
  expect(keys.size).toBeGreaterThan(100);
  for (const key of keys) expect(types, key).toMatch(new RegExp(`readonly ${key}\\??:`));
});
