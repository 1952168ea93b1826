import { describe, expect, test } from 'vitest';
import { ingredients, specHash } from '../../../src/config/fingerprint.ts';
import { linesOf, load } from './support.ts';

const one = (compose: string, more = '') => `components: { cache: { compose: ${compose}${more} } }`;
const only = (text: string) => load(text).components[0]!;

describe('a compose service', () => {
  test('is complete: the file, its folder, the service', () => {
    const { driver } = only(one('{ service: redis }'));
    expect(driver).toMatchObject({ kind: 'compose', service: 'redis', env: {}, envFiles: [] });
    if (driver.kind !== 'compose') throw new Error(driver.kind);
    expect(driver.file).toBe(`${driver.projectDir}/docker-compose.yml`);
    expect(only(one('{ file: a/b.yml, service: redis }')).driver).toMatchObject({
      file: `${driver.projectDir}/a/b.yml`,
      projectDir: `${driver.projectDir}/a`,
    });
    expect(only(one('{ file: a/b.yml, project_dir: ., service: redis }')).driver).toMatchObject({
      projectDir: driver.projectDir,
    });
  });

  test('is another one with another service or file, and the same with another policy', () => {
    const hash = (text: string) => specHash(only(text));
    const same = hash(one('{ service: redis }'));
    expect(hash(one('{ file: docker-compose.yml, service: redis }', ', restart: { policy: never }'))).toBe(same);
    expect(hash(one('{ service: other }'))).not.toBe(same);
    expect(hash(one('{ file: b.yml, service: redis }'))).not.toBe(same);
    expect(ingredients(only(one('{ service: redis }')))).toHaveProperty('compose');
  });

  test.each([
    ['{}', '', 'components.cache.compose: "service" is missing'],
    ['{ service: "a b" }', '', '"a b" is not the name of a compose service'],
    ['{ service: redis }', ', cleanup: remove', 'never removed by Keepwell | Remove it.'],
    ['{ service: redis }', ', limits: { memory: 1GiB }', 'Write it in the compose file'],
    ['{ service: redis }', ', restart: { command: [a] }', 'started again by Keepwell itself'],
    ['{ service: redis }', ', liveness: { exec: { command: [a], cwd: /b } }', 'runs inside the container'],
    ['{ service: redis }', ', process: { command: [a] }', 'compose'],
  ])('%s%s is refused', (compose, more, said) => {
    const lines = linesOf(one(compose, more));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(said);
  });

  test('is kept once', () => {
    const twice = 'components: { a: { compose: { service: x } }, b: { compose: { service: x } } }';
    expect(linesOf(twice)).toEqual([expect.stringContaining('the service "x" is kept by a already')]);
  });
});
