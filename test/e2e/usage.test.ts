import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { SamplesView, WhyView } from '../../src/supervision/rules/views.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const NODE = process.execPath;
const LEAK = resolve('test/fixtures/usage/leak.mjs');
const MIB = 1024 * 1024;
const REASON = /^soft_memory: \d+ MiB, more than 100 MiB in 3 samples$/;

test('a program that leaks is asked to end and started again, long before the kernel would have ended it', async () => {
  await using project = new TestProject(`components:
  leaky:
    process: { command: [${NODE}, ${LEAK}, "2", "200"] }
    limits: { soft_memory: 100MiB, memory: 800MiB }
    restart: { policy: always, backoff: { initial: 500ms } }
`);
  await project.ok('up');
  const first = await project.component('leaky');
  const again = await waitFor('the restart', async () => {
    const view = await project.component('leaky');
    return view.restarts > 0 && view.state === 'running' ? view : null;
  });
  expect(again.pid).not.toBe(first.pid);
  expect(again.last_restart?.reason).toMatch(REASON);
  expect(again.last_exit).toMatchObject({
    code: 0,
    signal: null,
    oom: false,
    unhealthy: expect.stringMatching(REASON),
  });
  expect(project.log('leaky')).toMatch(/asked to end with \d+ pieces/);
  const why = JSON.parse(await project.ok('-o', 'json', 'why', 'leaky')) as WhyView;
  expect(why).toMatchObject({
    decision: expect.stringMatching(/^restart in .* \(1 of 10 in 10 min\)$/),
    root_cause: expect.stringMatching(REASON),
  });
  expect(await project.ok('why', 'leaky')).toMatch(/leaky was ended because soft_memory: \d+ MiB/);
  expect(await project.ok('events')).toMatch(/leaky {2}soft_memory: \d+ MiB, more than 100 MiB in 3 samples/);
});

test('status shows what a component uses, also after a crash of the daemon, and its history is read without one', async () => {
  await using project = new TestProject(`components:
  api:
    process: { command: [${NODE}, -e, "setInterval(() => {}, 1000)"] }
    limits: { soft_memory: 2GiB }
  idle:
    process: { command: [sleep, "1000"] }
`);
  await project.ok('up');
  const used = await project.until('api', 'sampled twice', ({ resources }) => resources?.cpu_percent != null);
  expect(used.resources).toMatchObject({ soft_memory_bytes: 2048 * MIB, processes: 1 });
  expect(used.resources!.memory_bytes).toBeGreaterThan(10 * MIB);
  expect(used.resources!.memory_bytes).toBeLessThan(1024 * MIB);
  expect(used.resources!.threads).toBeGreaterThan(3);
  expect(used.resources!.fds).toBeGreaterThan(3);
  expect(used.resources!.cpu_percent).toBeLessThan(400);
  const { resources } = await project.until('idle', 'sampled', (idle) => idle.resources !== null);
  expect(resources).toMatchObject({ processes: 1, threads: 1 });
  expect(await project.ok('status', '--verbose')).toMatch(
    / {2}Usage: {4}CPU \S+ %? {2,3}Memory \d+ MiB of 2 GiB soft {3}Files \d+ {3}Threads \d+\n/,
  );
  expect(await project.ok('status')).toMatch(/RESTARTS {2}CPU +MEM +NOTE\napi .* \d+MiB\n/);

  const history = async () => JSON.parse(await project.ok('-o', 'json', 'status', 'api', '--history')) as SamplesView;
  const before = (await history()).samples;
  expect(before).toMatchObject([{ component: 'api', run_id: used.run_id }]);
  const daemon = project.daemonPid()!;
  kill(daemon);
  await waitFor(
    'another daemon',
    async () => (await project.status()).daemon.pid !== daemon && (await project.answered()),
  );
  const after = await project.until('api', 'sampled by the next daemon', (api) => api.resources !== null);
  expect(after).toMatchObject({ run_id: used.run_id, adopted: true, restarts: 0 });
  await project.ok('down');
  const { stdout, stderr } = await project.cli('-o', 'json', 'status', 'api', '--history');
  expect(stderr).toContain('the daemon is not running');
  expect((JSON.parse(stdout) as SamplesView).samples.length).toBeGreaterThan(0);
  expect(await project.ok('status', 'api', '--history')).toMatch(/^FROM .*\n\d{4}-/);
});
