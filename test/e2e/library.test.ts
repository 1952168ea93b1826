import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { Keepwell, type KeepwellEvent } from '../../src/index.ts';
import { kill, TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const SLEEPER = { process: { command: ['sleep', '1000'] } };

async function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const [code] = (await once(child, 'close')) as [number];
  return { code, text };
}

test('the example that supervises by itself runs, explains a death and leaves nothing behind', async () => {
  using dir = tempDir();
  const env = { TMPDIR: dir.path };
  const { code, text } = await run(process.execPath, [resolve('examples/library-open/main.mjs')], dir.path, env);
  expect(text).toMatch(
    /database is ready[\s\S]*worker: component.exited\nworker died with exit code 7; its last words: out of luck/,
  );
  expect(text.trim()).toMatch(/all gone$/);
  expect(code).toBe(0);
  expect(readdirSync(dir.path)).toEqual([]);
});

test('the example that talks to a daemon restarts and follows, and says what to do without one', async () => {
  await using project = new TestProject('components: { x: { process: { command: ["true"] } } }');
  // A copy, beside which `keepwell` is found as in a clone.
  const dir = mkdtempSync(join(resolve('examples'), '.try-'));
  try {
    for (const name of ['keepwell.yaml', 'main.mjs']) {
      const { readFileSync } = await import('node:fs');
      writeFileSync(join(dir, name), readFileSync(join('examples/library-connect', name)));
    }
    const cli = (...args: string[]) => run(process.execPath, [resolve('dist/bin/keepwell.cjs'), ...args], dir);
    const without = await run(process.execPath, ['main.mjs'], dir);
    expect(without).toMatchObject({ code: 1, text: expect.stringContaining('keepwell up') });
    expect((await cli('up')).code).toBe(0);
    const { code, text } = await run(process.execPath, ['main.mjs'], dir);
    expect((await cli('down')).code).toBe(0);
    expect(text).toMatch(/api is running and healthy[\s\S]*api: component.ready\napi is ready again, pid \d+/);
    expect(code).toBe(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  expect(project.daemonPid()).toBeNull();
});

test('an opened project answers every question, and disposal stops its components', async () => {
  using dir = tempDir();
  let pid = 0;
  {
    await using keepwell = await Keepwell.open({ components: { api: SLEEPER, web: SLEEPER } }, { cwd: dir.at('') });
    const api = await keepwell.waitFor('api', 'ready');
    pid = api.pid!;
    expect((await keepwell.status()).components.map(({ name }) => name)).toEqual(['api', 'web']);
    await keepwell.stop(['web']);
    await keepwell.waitFor('web', 'stopped');
    expect(await keepwell.up()).toEqual(['api', 'web']);
    await keepwell.waitFor('web', 'ready');
    expect(await keepwell.crashes()).toEqual([]);
    expect(await keepwell.reload()).toMatchObject({ unchanged: ['api', 'web'] });
    expect(await keepwell.validate()).toMatchObject({ valid: true });
    expect(await keepwell.logs()).toEqual([]);
    await expect(keepwell.why('api')).rejects.toMatchObject({ code: 'NOTHING_RECORDED' });
    await expect(keepwell.restart(['apj'])).rejects.toMatchObject({ code: 'NO_SUCH_COMPONENT' });
    await expect(keepwell.waitFor('api', 'stopped', { timeoutMs: 50 })).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' });
    await expect(keepwell.waitFor('api', 'bogus' as 'ready')).rejects.toMatchObject({
      name: 'AppError',
      code: 'USAGE',
    });
  }
  await waitFor('its process to be gone', () => !isThere(pid));
});

test('a second one is refused and says who holds the project; the CLI works beside the first', async () => {
  await using project = new TestProject('components: { api: { process: { command: [sleep, "1000"] } } }');
  await using keepwell = await Keepwell.open(project.path('keepwell.yaml'));
  await expect(Keepwell.open(project.path('keepwell.yaml'))).rejects.toMatchObject({
    code: 'DAEMON_ALREADY_RUNNING',
    message: expect.stringContaining(`pid ${process.pid}`),
  });
  await keepwell.waitFor('api', 'ready');
  expect((await project.component('api')).state).toBe('running');
  await project.ok('restart', 'api');
  await using other = await Keepwell.connect({ cwd: project.dir });
  expect((await other.component('api')).state).toBe('running');
  await project.ok('down'); // ends the supervision, not the program that hosts it
  await expect(Keepwell.connect({ cwd: project.dir })).rejects.toMatchObject({ code: 'DAEMON_NOT_RUNNING' });
});

test('a mistake in the configuration is told before anything is touched', async () => {
  using dir = tempDir();
  const broken = Keepwell.open({ components: { api: { process: { command: 'sleep 1' } } } }, { cwd: dir.at('') });
  await expect(broken).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  expect(readdirSync(dir.at(''))).toEqual([]);
});

test('events over five kills of the daemon: every one exactly once', async () => {
  await using project = new TestProject(
    'components: { tick: { process: { command: [sleep, "0.2"] }, min_uptime: 0s, restart: { backoff: { initial: 0s, max: 0s }, limit: { max: 100000 } } } }',
  );
  await project.ok('up');
  await using keepwell = await Keepwell.connect({ cwd: project.dir });
  const end = new AbortController();
  const seen: KeepwellEvent[] = [];
  const reading = (async () => {
    for await (const event of keepwell.events({ after: 0, signal: end.signal })) seen.push(event);
  })();
  for (let round = 0; round < 5; round += 1) {
    const before = seen.length;
    await waitFor('some events', () => seen.length > before + 5);
    const { pid } = (await project.answered()).daemon;
    kill(pid!);
    await waitFor('the next daemon', async () => (await project.answered()).daemon.pid !== pid);
  }
  await project.ok('stop', 'tick');
  const { last } = await newest(project);
  await waitFor('the last event', () => (seen.at(-1)?.seq ?? 0) >= last);
  end.abort();
  await reading;
  // Something may have been added since.
  const upToLast = (events: readonly KeepwellEvent[]) => events.map(({ seq }) => seq).filter((seq) => seq <= last);
  const numbers = upToLast(seen);
  const recorded = upToLast(await all(project));
  expect(numbers).toEqual(recorded);
  expect(new Set(numbers).size).toBe(numbers.length);
});

async function all(project: TestProject): Promise<readonly KeepwellEvent[]> {
  const events: KeepwellEvent[] = [];
  for (;;) {
    const after = String(events.at(-1)?.seq ?? 0);
    const text = (await project.ok('-o', 'json', 'events', '--after', after, '--limit', '1000')).trim();
    if (text === '') return events;
    events.push(...text.split('\n').map((line) => JSON.parse(line) as KeepwellEvent));
  }
}

async function newest(project: TestProject): Promise<{ last: number }> {
  return { last: (await all(project)).at(-1)?.seq ?? 0 };
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
