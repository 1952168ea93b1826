import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { OverviewView } from '../../src/dashboard/rules/views.ts';
import type { ComponentView, CrashesView, EventView, StatusView, WhyView } from '../../src/supervision/rules/views.ts';
import { DemoRun, leftOf } from '../support/demo-run.ts';
import { ENTRY } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const DONE = /^Done in .*\nWHAT WAS BROKEN +WHAT KEEPWELL DID +TOOK\n((?:.+\n){4})/m;

/** The number that a sentence of the demo ends with or contains. */
function numberIn(text: string, sentence: RegExp): number {
  const found = sentence.exec(text)?.[1];
  if (found === undefined) throw new Error(`nothing like ${sentence} in:\n${text}`);
  return Number(found);
}

describe('the whole demo', () => {
  test('breaks and mends four things, and leaves nothing behind, whatever the folder and KEEPWELL_HOME are', async () => {
    using cwd = tempDir();
    writeFileSync(cwd.at('keepwell.yaml'), 'components: [ this is not a configuration');
    await using demo = new DemoRun(cwd.path, [], { KEEPWELL_HOME: cwd.at('home'), TMPDIR: cwd.path });
    expect(await demo.end()).toEqual({ code: 0, signal: null });
    const { stdout, stderr, dir } = demo;
    expect(stderr).toBe('');
    expect(stdout).not.toContain('\u001b');
    const headings = [...stdout.matchAll(/^(\d)\/7 /gm)].map(([, step]) => step);
    expect(headings).toEqual(['1', '2', '3', '4', '5', '6', '7']);
    const rows = DONE.exec(stdout)?.[1];
    expect(rows).toMatch(/^mailer: exit code 1 +restarted after \d+ ms of backoff +\d/m);
    expect(rows).toMatch(/^reports: hung, pid alive +ended and restarted: liveness failed 2 times +\d/m);
    expect(rows).toMatch(/^daemon: kill -9 +a new daemon adopted 4 of 4, restarted 0 +\d/m);
    expect(rows).toMatch(/^indexer: ignored SIGTERM +SIGKILL to all 3 processes after 1 s of grace +\d/m);
    expect(stdout).toMatch(/TypeError: Cannot read properties of null \(reading 'email'\)/);
    expect(stdout.replace(/\s+/g, ' ')).toContain(`✓ no process is left, and ${dir} is gone`);
    expect(stdout).toMatch(/^ {2}keepwell init /m);
    expect(leftOf(dir)).toEqual([]);
  });

  test('says nothing that the records do not say, and with --keep leaves them and the stack to be looked at', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path, ['--keep'], { NO_COLOR: '1' });
    expect(await demo.end()).toEqual({ code: 0, signal: null });
    const { stdout, dir } = demo;
    const config = join(dir, 'keepwell.yaml');
    const keepwell = (...args: string[]): string =>
      execFileSync(process.execPath, [ENTRY, '-f', config, ...args], { encoding: 'utf8', stdio: 'pipe' });
    const json = <T>(...args: string[]): T => JSON.parse(keepwell('-o', 'json', ...args)) as T;
    try {
      const { components, daemon } = json<StatusView>('status');
      const pidOf = (name: string) => components.find((component) => component.name === name)?.pid;
      expect(components.map(({ name, state, restarts }) => [name, state, restarts])).toEqual([
        ['web', 'running', 0],
        ['mailer', 'running', 1],
        ['reports', 'running', 1],
        ['indexer', 'running', 0],
      ]);
      expect(numberIn(stdout, /mailer works again as pid (\d+)/)).toBe(pidOf('mailer'));
      expect(numberIn(stdout, /as pid\s+(\d+), [\d.]+ s after it hung/)).toBe(pidOf('reports'));
      expect(numberIn(stdout, /web +adopted, still pid (\d+)/)).toBe(pidOf('web'));
      expect(numberIn(stdout, /a new daemon, pid (\d+)/)).toBe(daemon.pid);

      const { crashes } = json<CrashesView>('crashes');
      expect(crashes.map(({ subject, exit }) => [subject.name, exit.code, exit.signal])).toEqual([
        ['reports', null, 'SIGTERM'],
        ['mailer', 1, null],
      ]);
      const why = json<WhyView>('why', 'mailer');
      expect(stdout).toContain(`Crash:    ${why.id}, run ${why.run_id}`);
      expect(stdout).toContain(`Decision: ${why.decision}`);

      const events = keepwell('-o', 'json', 'events')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as EventView);
      const of = (name: string, type: string) =>
        events.filter((event) => event.subject.name === name && event.type === type).map(({ at }) => Date.parse(at));
      const [died] = of('mailer', 'component.exited');
      const readyAgain = of('mailer', 'component.ready')[1];
      expect(stdout.replace(/\s+/g, ' ')).toContain(`${inWords(readyAgain! - died!)} after its death`);
      expect(events.filter(({ type }) => type === 'daemon.started')).toHaveLength(2);
      expect(of('indexer', 'component.killed')).toHaveLength(1);

      expect(stdout).toContain(`keepwell -f ${config} down && rm -r ${dir}`);
    } finally {
      keepwell('down');
      rmSync(dir, { recursive: true, force: true });
    }
    await waitFor('nothing to be left', () => leftOf(dir).length === 0);
  });
});

describe('the demo on the page', () => {
  test('leaves a broken shop there for as long as somebody looks, and nothing behind afterwards', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path, ['--dashboard'], { BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' });
    await demo.says('Ctrl-C here ends it');
    const [, origin, token] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(demo.stdout)!;
    const ask = async <T>(path: string): Promise<T> =>
      (await (await fetch(origin + path, { headers: { Authorization: `Bearer ${token}` } })).json()) as T;
    expect(await (await fetch(`${origin}/`)).text()).toContain('<div id="app">');
    const stateOf = async (name: string) => (await ask<ComponentView>(`/v1/components/${name}`)).state;
    expect(await stateOf('billing')).toBe('gave-up');
    expect(await stateOf('invoices')).toBe('waiting');
    expect(await stateOf('indexer')).toBe('stopped');
    const { attention } = await ask<OverviewView>('/v1/overview');
    expect(attention.map(({ name }) => name)).toContain('billing');
    await waitFor('the visitors to break the mailer', async () => {
      const { crashes } = await ask<CrashesView>('/v1/crashes?component=mailer');
      return crashes.length >= 2;
    });
    demo.process.kill('SIGINT');
    expect(await demo.end()).toEqual({ code: 0, signal: null });
    expect(demo.stdout).toMatch(/Cleaning up\n ✓ no process is left/);
    expect(leftOf(demo.dir)).toEqual([]);
  });

  test('is not kept as well', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path, ['--dashboard', '--keep']);
    expect(await demo.end()).toMatchObject({ code: 2 });
  });
});

describe('a demo that is stopped', () => {
  test.each([
    ['while the daemon starts', 'starting the daemon', 'SIGINT'],
    ['while components wait', 'mailer: waiting for web', 'SIGTERM'],
    ['while a server hangs', '3/7 ', 'SIGINT'],
    ['while its daemon is dead', 'is killed with', 'SIGINT'],
    ['while a process refuses to stop', 'indexer: stopping', 'SIGTERM'],
  ] as const)('%s cleans up, and a second signal changes nothing', async (_when, text, signal) => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path);
    await demo.says(text);
    demo.process.kill(signal);
    await demo.says('cleaning up');
    demo.process.kill(signal);
    expect(await demo.end()).toEqual({ code: signal === 'SIGINT' ? 130 : 143, signal: null });
    expect(demo.stdout).toMatch(new RegExp(`Stopped by ${signal}, cleaning up\n ✓ no process is left`));
    expect(leftOf(demo.dir)).toEqual([]);
  });

  test('by a terminal that hangs up cleans up, and dies of it', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path);
    await demo.says('2/7');
    demo.process.kill('SIGHUP');
    expect(await demo.end()).toEqual({ code: null, signal: 'SIGHUP' });
    expect(leftOf(demo.dir)).toEqual([]);
  });

  test('because nobody reads on cleans up', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path);
    await demo.says('$ keepwell up');
    demo.process.stdout!.destroy();
    await demo.end();
    expect(leftOf(demo.dir)).toEqual([]);
  });

  test('with SIGKILL is cleared away by the next one', async () => {
    using cwd = tempDir();
    await using killed = new DemoRun(cwd.path);
    await killed.says('2/7');
    killed.process.kill('SIGKILL');
    await killed.end();
    expect(leftOf(killed.dir)).not.toEqual([]);
    await using next = new DemoRun(cwd.path);
    await next.says('is gone now');
    await next.says('1/7');
    expect(leftOf(killed.dir)).toEqual([]);
  });
});

describe('a demo that cannot work', () => {
  test('because somebody took its port says so, and cleans up', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path);
    const port = await waitFor('the configuration', () => portIn(demo.dir));
    const other = createServer((socket) => socket.on('error', () => {}).destroy()).listen(port, '127.0.0.1');
    try {
      expect(await demo.end()).toMatchObject({ code: 1 });
    } finally {
      other.close();
    }
    expect(demo.stderr).toContain(`web: cannot listen on port ${port}: listen EADDRINUSE`);
    expect(leftOf(demo.dir)).toEqual([]);
  });

  test('because there is no temporary folder says what to do', async () => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path, [], { TMPDIR: cwd.at('nowhere') });
    expect(await demo.end()).toMatchObject({ code: 1 });
    expect(demo.stderr).toMatch(/nowhere cannot be written: ENOENT: no such file or directory\. .*TMPDIR/);
  });

  test.each([
    [['-o', 'json'], 'it has no -o json'],
    [['-f', 'x.yaml'], '-f has no meaning here'],
  ])('because it was asked with %j is refused', async (args, problem) => {
    using cwd = tempDir();
    await using demo = new DemoRun(cwd.path, args);
    expect(await demo.end()).toMatchObject({ code: 2 });
    expect(demo.stderr).toContain(problem);
  });
});

/** As the product writes durations of less than ten seconds. */
const inWords = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`);

/** Null while the file is not there, or not whole. */
function portIn(dir: string): number | null {
  try {
    const [, port] = /web\.cjs, "(\d+)"/.exec(readFileSync(join(dir, 'keepwell.yaml'), 'utf8')) ?? [];
    return port === undefined ? null : Number(port);
  } catch {
    return null;
  }
}
