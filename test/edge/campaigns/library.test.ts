/** A campaign run by a program, on a real Engine. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type AppError, ContainerManager, resumeCampaign, runCampaign } from '../../../src/index.ts';
import { thingsOf, useCompose } from '../../support/compose.ts';
import { useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';

const engineOf = useEngine();

/** The first start of the service fails. */
const COMPOSE = `
services:
  gpu:
    image: keepwell-test
    init: true
    network_mode: none
    command: ["sh", "-c", "test -e /data/up || { : >/data/up; exit 3; }; exec sleep 1000000"]
    volumes: ["./data:/data"]
`;
const CAMPAIGN = `
campaign: night
command: [sh, -c, 'echo "I am $$0"; test "$$0" = b && until test -e /data/go; do sleep 0.05; done; true', "{name}"]
experiments: [{ name: a, service: gpu }, { name: b, service: gpu }]
cool_down: 0s
`;

test('a program runs a campaign, over a start that failed, one at a time, and goes on where it was interrupted', async ({
  skip,
}) => {
  const engine = engineOf(skip);
  useCompose('2', engine, skip);
  const dir = tempDir();
  const project = basename(dir.path)
    .toLowerCase()
    .replace(/[^-_a-z0-9]/g, '');
  onTestFinished(async () => {
    await new ContainerManager({ projectDir: dir.path }).teardown().catch(() => {});
    dir[Symbol.dispose]();
  });
  writeFileSync(dir.at('docker-compose.yml'), COMPOSE);
  writeFileSync(dir.at('night.yaml'), CAMPAIGN);
  writeFileSync(dir.at('broken.yaml'), 'campaign: night');
  await expect(runCampaign(dir.at('broken.yaml'))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(existsSync(dir.at('.keepwell'))).toBe(false);
  const notes: string[] = [];
  const interrupt = new AbortController();
  let output = '';
  let second: Promise<unknown> | null = null;
  const first = await runCampaign(dir.at('night.yaml'), {
    signal: interrupt.signal,
    onNote: (text) => notes.push(text),
    onOutput: (experiment, piece) => {
      output += `${experiment}: ${piece}`;
      if (experiment !== 'b') return;
      // While this one runs, no other may use its services.
      second ??= runCampaign(dir.at('night.yaml'), { name: 'other' }).catch((error: AppError) => error.code);
      void second.then(() => interrupt.abort());
    },
  });
  expect(await second).toBe('CAMPAIGN_BUSY');
  expect(first).toMatchObject({ campaign: 'night', state: 'interrupted', done: 1, total: 2, left: [] });
  expect(notes.join('\n')).toContain('"gpu": it ended with code 3');
  expect(output).toMatch(/^a: I am a\nb: I am b\n/);
  await expect(runCampaign(dir.at('night.yaml'), { name: '../../night' })).rejects.toMatchObject({ code: 'USAGE' });
  writeFileSync(dir.at('data/go'), '');
  // The newest unfinished one: the one that was refused has left no trace.
  const resumed = await resumeCampaign(null, { cwd: dir.path });
  expect(resumed).toMatchObject({ campaign: 'night', state: 'done', done: 2, left: [] });
  expect(resumed.experiments.map(({ attempts }) => attempts)).toEqual([1, 2]);
  expect(await thingsOf(engine, project)).toEqual([]);
});
