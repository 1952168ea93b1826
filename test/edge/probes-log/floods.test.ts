import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, truncateSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_LINE_BYTES } from '../../../src/probes/log/limits.ts';
import { bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { askUntil, logWorld } from './log-world.ts';
import { target } from './target.ts';

const world = logWorld();

test('a line of 200 MB is read with the memory of a few batches', async () => {
  using dir = tempDir();
  const program = await bundle('test/edge/probes-log/huge-line.ts');
  try {
    const { stdout, stderr } = spawnSync(process.execPath, [program.path, dir.at('api.log')], { encoding: 'utf8' });
    expect(stderr).toBe('');
    const said = JSON.parse(stdout);
    expect(said).toMatchObject({ last: 'ready\n', hasCaughtUp: true, skippedBytes: 0 });
    expect(said.lengths).toEqual([MAX_LINE_BYTES + 1, 'ready\n'.length]);
    expect(said.grownBytes).toBeLessThan(60_000_000);
  } finally {
    program.remove();
  }
});

test('a flood is skipped and counted, its end is read, and everybody else goes on', async () => {
  using hits = world.now.hits(['/^last$/'], 'api');
  const flood = `yes "$0" | head -c 300000000 >> "$1"`;
  const writer = spawn('sh', ['-c', flood, 'a line of the flood', world.now.path('api')], { stdio: 'ignore' });
  const written = once(writer, 'exit');
  for (let round = 0; round < 20; round++) {
    world.now.write('other', `good ${round}\n`);
    await askUntil(
      world.now.watch.open(`/^good ${round}$/`, target('other'), () => {}),
      'pass',
    );
  }
  await written;
  world.now.write('api', 'last\n');
  await waitFor('the last line', () => hits.length === 1);
  hits[Symbol.dispose]();
  const told = await waitFor('the count', () =>
    world.now.said.find(({ message }) => message === 'parts of a log were skipped'),
  );
  expect(told.data['skippedBytes']).toBeGreaterThan(64 * 1024 * 1024);
  expect(told.data['skippedBytes']).toBeLessThan(300_000_000);
  rmSync(world.now.path('api'));
});

test('who asks for a line is told how much was skipped', async () => {
  world.now.write('api', '');
  truncateSync(world.now.path('api'), 200_000_000); // nothing but a hole
  world.now.write('api', '\nnext\n');
  const inquiry = world.now.watch.open('ready', target('api'), () => {});
  expect((await askUntil(inquiry, 'fail')).message).toBe('no line with "ready" yet (1 line read, 199 MB skipped)');
  world.now.write('api', 'ready\n');
  await askUntil(inquiry, 'pass');
});
