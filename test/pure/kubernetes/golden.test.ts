/** Whole manifests, as they are written. After a change on purpose: `npx vitest run --project pure FILE -u`, and read the difference. */
import { expect, test } from 'vitest';
import { yamlDocument } from '../../../src/kubernetes/yaml.ts';
import { expectedFile, FIXTURES, renderFixture, SECRETS } from './support.ts';

test.each(FIXTURES)('%s is rendered as expected', async (name) => {
  await expect(renderFixture(name).text('FILE')).toMatchFileSnapshot(expectedFile(name));
});

test.each(FIXTURES)('%s is rendered the same each time', (name) => {
  expect(renderFixture(name).text('FILE')).toBe(renderFixture(name).text('FILE'));
});

test.each(FIXTURES)('no secret of %s can be read where Secrets are only named', (name) => {
  const text = renderFixture(name).text('FILE');
  for (const secret of [...Object.values(SECRETS), 'abcdefgh12', 'bm90IGEga2V5']) expect(text).not.toContain(secret);
});

test('values of Secrets are rendered when they are asked for, and alone where nothing else is', () => {
  const only = renderFixture('secrets', { secrets: 'only' });
  expect(only.objects.map(({ object }) => object.kind)).toEqual(['Secret', 'Secret']);
  expect(only.objects.map(({ object }) => object['stringData'])).toEqual([
    {
      DB_PASSWORD: SECRETS.DB_PASSWORD,
      DATABASE_URL: `postgres://app:${SECRETS.DB_PASSWORD}@database/app`,
      KEEPWELL_SECRET_1: SECRETS.DB_PASSWORD,
      KEEPWELL_SECRET_2: SECRETS.API_TOKEN,
    },
    { A: '1', B: 'from-more', SESSION_SECRET: 'abcdefgh12' },
  ]);
  expect(only.text('FILE')).not.toContain('#');
  const all = renderFixture('secrets', { secrets: 'include' });
  expect(all.objects.map(({ object }) => object.kind)).toEqual(['Secret', 'Secret', 'Deployment']);
  expect(all.text('FILE')).not.toContain('--secrets only');
});

test('a file for each stage has the same documents as the one file', () => {
  const rendered = renderFixture('stages');
  const files = rendered.files('deploy');
  expect([...files.keys()]).toEqual(['stage-1.yaml', 'stage-2.yaml', 'stage-3.yaml', 'stage-4.yaml']);
  const joined = [...files.values()].join('---\n');
  for (const { object } of rendered.objects) expect(joined).toContain(yamlDocument(object));
  expect(files.get('stage-1.yaml')).toContain('kubectl apply -f deploy/stage-2.yaml');
});
