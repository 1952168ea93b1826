import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorView } from '../../src/base/pure/errors.ts';
import type { StatusView } from '../../src/supervision/rules/views.ts';
import { freePort } from '../support/free-port.ts';
import { McpClient } from '../support/mcp.ts';
import { type CliResult, ENTRY, TestProject } from '../support/project.ts';
import { type SshMachine, SshUser, withoutSshd } from '../support/ssh-machine.ts';
import { tempDir } from '../support/temp-dir.ts';
import { TestTerminal } from '../support/terminal.ts';
import { waitFor } from '../support/wait-for.ts';

const CONFIG = `components:
  api: { process: { command: [./count.sh] } }
  broken: { process: { command: [sh, -c, "echo no luck >&2; exit 7"] }, restart: { limit: { max: 1 }, backoff: { initial: 10ms } } }
`;

const errorOf = ({ stderr }: CliResult): ErrorView['error'] =>
  (JSON.parse(stderr.trim().split('\n').at(-1)!) as ErrorView).error;

describe.skipIf(withoutSshd !== null)('several machines', () => {
  let user: SshUser;
  let machine: SshMachine;
  let project: TestProject;
  /** Where the user is: a folder without a project. */
  const here = tempDir();
  const run = async (...args: readonly string[]): Promise<CliResult> => await runWith({}, ...args);
  const runWith = async (env: Record<string, string>, ...args: readonly string[]): Promise<CliResult> =>
    await new TestProject({ dir: here.path }, user.env).cliWith(env, ...args);
  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  };

  beforeAll(async () => {
    user = new SshUser();
    machine = await user.machine();
    project = new TestProject(CONFIG);
    project.write('count.sh', '#!/bin/sh\ni=0\nwhile :; do i=$((i+1)); echo n $i; sleep 0.05; done\n');
    await project.cli('up', '--no-wait');
    await project.until('broken', 'given up', ({ state }) => state === 'gave-up');
    user.hosts({ web: machine.url(project.dir) });
  });
  afterAll(async () => {
    await project[Symbol.asyncDispose]();
    await user[Symbol.asyncDispose]();
    here[Symbol.dispose]();
  });

  test('an assistant looks at a project on another machine', async () => {
    await using mcp = await McpClient.open(here.path, { args: ['-H', 'web', '--allow-control'], env: user.env });
    expect(await mcp.facts('problems')).toMatchObject({ well: false, incidents: [{ subject: 'broken' }] });
    expect((await mcp.call('why', { name: 'broken' })).blocks.at(-1)!.text).toContain('no luck');
    expect((await mcp.call('logs', { name: 'api', tail: 3 })).blocks[1]!.text).toMatch(/ n \d+\n/);
    expect(await mcp.facts('validate')).toMatchObject({ valid: true });
    expect(await mcp.facts('graph')).toMatchObject({ components: [{ name: 'api' }, { name: 'broken' }] });
    expect(await mcp.facts('restart', { names: ['api'] })).toMatchObject({ done: 'restart' });
  });

  test('what is asked of a daemon is answered from another machine, over one connection in a directory of the user alone', async () => {
    const url = machine.url(project.dir);
    const there = JSON.parse(await ok('-H', url, 'status', '-o', 'json')) as StatusView;
    expect(there.daemon.pid).toBe(project.daemonPid());
    expect(await ok('-H', 'web', 'status')).toMatch(/broken +gave-up/);
    expect(await ok('why', 'web/broken')).toContain('no luck');
    expect((await runWith({ KEEPWELL_HOST: 'web' }, 'crashes', '--limit', '1')).stdout).toContain('exit code 7');
    expect(await ok('-H', 'web', 'incidents')).toContain('broken: no luck');
    expect(await ok('-H', 'web', 'tickets')).toContain('BUG-001');
    expect(await ok('-H', 'web', 'events', 'broken')).toContain('gave up');
    expect(await ok('-H', 'web', 'runs', 'broken')).toContain('exit code 7');
    expect(await ok('-H', 'web', 'logs', '--grep', 'luck')).toContain('broken | no luck');
    const before = (await project.component('api')).pid;
    expect(await ok('-H', 'web', 'restart', 'api')).toContain('restarted: api');
    expect((await project.component('api')).pid).not.toBe(before);
    await ok('-H', 'web', 'wait', 'api');
    expect((await run('-H', 'web', 'health')).code).toBe(1);
    expect(await ok('-H', 'web', 'reload', '--dry-run')).toContain('unchanged: api, broken');
    expect(user.holders()).toHaveLength(1);
    const dir = join(user.runDir, `keepwell-ssh-${process.getuid!()}`);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });

  test('whatever is in the way is told with its own code, and what works only here says what to do', async () => {
    const url = machine.url(project.dir);
    const empty = user.config('empty', { knownHosts: 'nobody-known' });
    const stranger = user.config('stranger_config', { key: 'stranger' });
    const changed = user.config('changed', { knownHosts: 'changed_hosts' });
    const closed = await user.machine(['AllowStreamLocalForwarding no']);
    const [address] = machine.knownAs.split(' ');
    writeFileSync(user.at('changed_hosts'), `${address} ${closed.knownAs.split(' ').slice(1).join(' ')}\n`);
    const down = new TestProject('components: {}\n');
    mkdirSync(down.home);
    await using _ = down;
    /** Each with a connection of its own: one that stands would not be made again. */
    const cases: readonly [code: string, exit: number, host: string, env: Record<string, string>, command?: string][] =
      [
        ['HOST_INVALID', 2, `ssh://-oProxyCommand=touch%20${here.at('hacked')}/`, {}],
        ['HOST_INVALID', 2, '-oProxyCommand=x', {}],
        ['NO_SUCH_HOST', 2, 'wbe', {}],
        ['ONLY_HERE', 2, 'web', {}, 'up'],
        ['ONLY_HERE', 2, 'web', {}, 'daemon'],
        ['SSH_MISSING', 1, url, { PATH: here.path }],
        ['HOST_UNREACHABLE', 1, `ssh://127.0.0.1:${await freePort()}`, {}],
        ['HOST_LOGIN_REFUSED', 1, url, { TEST_SSH_CONFIG: stranger, XDG_RUNTIME_DIR: fresh('1') }],
        ['HOST_KEY_UNKNOWN', 1, url, { TEST_SSH_CONFIG: empty, XDG_RUNTIME_DIR: fresh('2') }],
        ['HOST_KEY_CHANGED', 1, url, { TEST_SSH_CONFIG: changed, XDG_RUNTIME_DIR: fresh('3') }],
        ['HOST_NOT_FORWARDED', 1, closed.url(project.dir), {}],
        ['HOST_NO_PROJECT', 2, machine.url('/no/such/folder'), {}],
        ['HOST_NO_PROJECT', 2, machine.url(`/$(touch ${here.at('hacked')})'; touch ${here.at('hacked')}; '`), {}],
        ['HOST_NO_PROJECT', 2, machine.url(here.path), {}],
        ['HOST_NO_DAEMON', 3, machine.url(down.dir), {}],
      ];
    for (const [code, exit, host, env, command = 'status'] of cases) {
      const result = await runWith(env, `--host=${host}`, command, '-o', 'json');
      expect({ host, code: errorOf(result).code, exit: result.code }).toEqual({ host, code, exit });
    }
    expect(existsSync(here.at('hacked'))).toBe(false);
  });

  test('a daemon of another protocol, in a folder with every odd character, is found and said to be of another version', async () => {
    using dir = tempDir();
    const odd = dir.at(`it's "a" $HOME shop; ~ %41`);
    mkdirSync(join(odd, '.keepwell'), { recursive: true });
    const socket = dir.at('s');
    await using server = createServer((_request, response) =>
      response.setHeader('Content-Type', 'application/json').end('{"schema_version":2,"version":"9.0.0"}'),
    ).listen(socket);
    await waitFor('it to listen', () => server.listening);
    writeFileSync(
      join(odd, '.keepwell/daemon.json'),
      JSON.stringify({ pid: process.pid, version: '9.0.0', socket, files: [] }),
    );
    const result = await run('-H', machine.url(odd), 'status', '-o', 'json');
    expect(errorOf(result)).toMatchObject({ code: 'HOST_OTHER_VERSION', details: { theirs: '9.0.0' } });
  });

  test('logs -f loses no line and prints none twice when its ssh is killed', async () => {
    const child = new TestProject({ dir: here.path }, user.env).start(['-H', 'web', 'logs', 'api', '-f', '-n', '1']);
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const numbers = () => [...output.matchAll(/^n (\d+)\n/gm)].map(([, number]) => Number(number));
    await waitFor('lines', () => numbers().length >= 5);
    const held = user.holders();
    for (const pid of held) process.kill(pid, 'SIGKILL');
    const seen = numbers().at(-1)!;
    await waitFor('lines over a new connection', () => numbers().at(-1)! > seen + 20);
    child.kill('SIGINT');
    expect(await new Promise((done) => child.once('close', done))).toBe(130);
    const all = numbers();
    expect(all).toEqual(all.map((_, index) => all[0]! + index));
    expect(user.holders().filter((pid) => held.includes(pid))).toEqual([]);
  });

  test('top goes on when its ssh is killed', async () => {
    const command = [process.execPath, ENTRY, '-H', 'web', 'top'];
    await using terminal = new TestTerminal(command, { cwd: here.path, env: user.env });
    await terminal.until('the components', (screen) => screen.includes('● live') && screen.includes('api'));
    for (const pid of user.holders()) process.kill(pid, 'SIGKILL');
    await project.ok('stop', 'api');
    await terminal.until('what changed', (screen) => screen.includes('● live') && /api +stopped/.test(screen));
    terminal.type('q');
    expect(await terminal.ended()).toMatchObject({ code: 0 });
    await project.ok('start', 'api');
  });

  test('the page of another machine is served here, behind the same guard, over every interruption, until Ctrl-C', async () => {
    const child = new TestProject({ dir: here.path }, user.env).start(['-H', 'web', 'dashboard', '--no-open']);
    let output = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [, origin, token] = await waitFor('its address', () =>
      /^(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(output),
    );
    const ask = async (path: string, { headers, ...more }: RequestInit = {}) =>
      await fetch(`${origin}${path}`, { ...more, headers: { Authorization: `Bearer ${token}`, ...headers } });
    expect(await (await fetch(`${origin}/`)).text()).toContain('<div id="app">');
    expect((await fetch(`${origin}/v1/overview`)).status).toBe(401);
    expect((await ask('/v1/status', { headers: { Origin: 'http://evil.example' } })).status).toBe(403);
    expect(await (await ask('/v1/access')).json()).toMatchObject({ role: 'control' });
    const overview = await ask('/v1/overview');
    expect(JSON.stringify(await overview.json())).toContain('"name":"broken"');
    const again = await ask('/v1/overview', { headers: { 'If-None-Match': overview.headers.get('ETag')! } });
    expect([200, 304]).toContain(again.status);
    const post = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
    expect((await ask('/v1/dashboard', { ...post, body: '{}' })).status).toBe(403);
    expect((await ask('/v1/restart', { ...post, body: '{"command":["sh"]}' })).status).toBe(400);
    const before = (await project.component('api')).pid;
    expect((await ask('/v1/restart', { ...post, body: '{"components":["api"]}' })).status).toBe(202);
    await project.until('api', 'another process', ({ pid }) => pid !== null && pid !== before);
    const events = await ask('/v1/events?after=0', { headers: { Accept: 'text/event-stream' } });
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toContain('id: 1\n');
    for (const pid of user.holders()) process.kill(pid, 'SIGKILL');
    await expect(drained(reader)).rejects.toThrow(); // cut off, not ended: the page goes on behind the last one
    expect((await ask('/v1/status')).status).toBe(200);
    child.kill('SIGINT');
    expect(await new Promise((done) => child.once('close', done))).toBe(130);
    await expect(fetch(`${origin}/`)).rejects.toThrow();
  });

  test('the fleet is one table: a host that hangs, one that refuses and one without a daemon hold up nobody', async () => {
    const frozen = await user.machine();
    const name = { web: machine.url(project.dir), frozen: frozen.url(project.dir) };
    user.hosts(name);
    expect(await ok('status', '--fleet')).toMatch(/^web +api +running[\s\S]*^frozen +api +running/m);
    frozen.freeze(); // with the connection of before, and for new ones
    user.hosts({ ...name, off: `ssh://127.0.0.1:${await freePort()}`, empty: machine.url('/') });
    const { code, stdout } = await run('status', '--fleet', '--timeout', '5s');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^web +api +running/m);
    expect(stdout).toMatch(/^frozen +- +no answer .*frozen cannot be reached: no answer within 5 s/m);
    expect(stdout).toMatch(/^off +- +no answer .*Connection refused/m);
    const incidents = await run('incidents', '--fleet', '--timeout', '5s', '-o', 'json');
    expect(incidents.code).toBe(1);
    const { hosts } = JSON.parse(incidents.stdout) as {
      hosts: { host: string; incidents: { title: string }[] | null; error: { code: string } | null }[];
    };
    expect(hosts.map(({ host, error }) => [host, error?.code ?? null])).toEqual([
      ['web', null],
      ['frozen', 'HOST_UNREACHABLE'],
      ['off', 'HOST_UNREACHABLE'],
      ['empty', 'HOST_NO_PROJECT'],
    ]);
    expect(hosts[0]!.incidents![0]!.title).toContain('no luck');
    frozen.thaw();
    user.hosts(name);
    expect((await run('status', '--fleet', '--exit-code')).code).toBe(1); // broken has given up
    await ok('status', '--fleet', 'api', '--exit-code');
  });

  test('a program connects to another machine as the commands do', async () => {
    const library = resolve('dist/lib/index.mjs');
    const script = `import { Keepwell } from ${JSON.stringify(library)};
      await using keepwell = await Keepwell.connect({ host: ${JSON.stringify(machine.url(project.dir))} });
      console.log((await keepwell.why('broken')).error_message ?? (await keepwell.why('broken')).root_cause);
      const failed = await Keepwell.connect({ host: 'ssh://-x/' }).catch((error) => error.code);
      console.log(failed);`;
    // Node 20 knows no "await using": the same by hand.
    const plain = script.replace('await using keepwell', 'const keepwell') + '\nawait keepwell.close();';
    const { spawnSync } = await import('node:child_process');
    const env = { ...process.env, ...user.env };
    const ended = spawnSync(process.execPath, ['--input-type=module', '-e', plain], { env, encoding: 'utf8' });
    expect(ended.stderr).toBe('');
    expect(ended.stdout).toMatch(/no luck[\s\S]*HOST_INVALID/);
  });

  /** A run-time directory without a connection in it. */
  function fresh(name: string): string {
    const dir = join(user.runDir, name);
    mkdirSync(dir, { mode: 0o700 });
    return dir;
  }
});

async function drained(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

test('whoever has one machine loads nothing of this', async () => {
  const { readFileSync } = await import('node:fs');
  const seen = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(resolve('dist/bin', file), 'utf8');
    // What is loaded lazily stands behind a then.
    for (const [, name] of text.matchAll(/(?<!then\(\(?\)?=>)require\(["'`]\.\/([^"'`]+)["'`]\)/g)) follow(name!);
  };
  follow('main.cjs');
  const texts = [...seen].map((file) => readFileSync(resolve('dist/bin', file), 'utf8'));
  expect(texts.some((text) => text.includes('ControlPersist'))).toBe(false);
});
