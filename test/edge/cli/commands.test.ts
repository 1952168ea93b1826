import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { COMMANDS } from '../../../src/cli/program.ts';
import { waitFor } from '../../support/wait-for.ts';
import { component, event, sampled, why } from '../http/fake-control.ts';
import { CliWorld } from './cli-world.ts';

test('status: a table for people, one document for programs, nothing else on stdout', async () => {
  await using world = await CliWorld.served();
  const text = await world.run('status');
  expect(text.code).toBe(0);
  expect(text.out.split('\n')[0]).toBe('NAME    STATE    HEALTH   READY  PID   UPTIME  RESTARTS  CPU  MEM  NOTE');
  for (const args of [
    ['status', '-o', 'json'],
    ['-o', 'json', 'ps'],
    ['ls', '--output=json'],
  ]) {
    const { code, out, err } = await world.run(...args);
    expect(code).toBe(0);
    expect(JSON.parse(out).components).toHaveLength(2);
    expect(err).toBe('');
  }
});

test('status --history: what one component used, oldest first for people', async () => {
  await using world = await CliWorld.served();
  const recently = Math.floor(Date.now() / 1000) - 600;
  world.served!.control.sampled.push(sampled('api', recently + 60), sampled('api', recently), sampled('api', 100));
  const text = await world.run('status', 'api', '--history');
  expect(text).toMatchObject({ code: 0, err: '' });
  const [header, first, second, ...rest] = text.out.split('\n');
  expect(header).toBe('FROM                 FOR  CPU   MEM    MAX MEM  FILES  THREADS  PROCESSES');
  expect(first).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}45s {2}0\.3% {2}41MiB {2}42MiB {4}23 {5}11 {7}1$/);
  expect(second! > first!).toBe(true);
  expect(rest).toEqual(['']);
  const json = JSON.parse((await world.run('status', 'api', '--history', '--since', '30000d', '-o', 'json')).out);
  expect(json.samples).toHaveLength(3);
  expect((await world.run('status', 'worker', '--history')).out).toContain('nothing was recorded of worker');
  expect((await world.run('status', 'nobody', '--history')).code).toBe(4);
  for (const args of [
    ['--history'],
    ['api', 'worker', '--history'],
    ['api', '--since', '1h'],
    ['api', '--history', '-w'],
  ])
    expect((await world.run('status', ...args)).code).toBe(2);
});

test('status of some, by name and pattern', async () => {
  await using world = await CliWorld.served();
  expect((await world.run('status', 'w*', '-o', 'json')).out).toContain('"worker"');
  const nobody = await world.run('status', 'wroker');
  expect(nobody).toMatchObject({ code: 4, out: '' });
  expect(nobody.err).toContain('Did you mean "worker"?');
  expect((await world.run('status', 'db-*')).code).toBe(4);
});

test('errors are one JSON document on stderr when JSON is asked for', async () => {
  await using world = await CliWorld.served();
  for (const args of [
    ['status', 'nobody', '-o', 'json'],
    ['-o', 'json', 'statsu'],
    ['--output', 'json', 'stop'],
  ]) {
    const { out, err, code } = await world.run(...args);
    expect(out).toBe('');
    expect(JSON.parse(err).error.code).toMatch(/NO_SUCH_COMPONENT|USAGE/);
    expect(code).toBe(JSON.parse(err).error.code === 'USAGE' ? 2 : 4);
  }
});

test('status --exit-code tells how things are', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  expect((await world.run('status', '--exit-code')).code).toBe(0);
  control.components = [component('api', { state: 'stopped', ready: false, health: 'unknown' })];
  expect((await world.run('status', '--exit-code')).code).toBe(3);
  control.components = [component('api', { health: 'unhealthy' })];
  expect((await world.run('status', '--exit-code')).code).toBe(1);
  expect((await world.run('status')).code).toBe(0);
});

test('without a daemon and without records, the configuration says what there is', async () => {
  await using world = new CliWorld();
  const status = await world.run('status');
  expect(status.code).toBe(0);
  expect(status.out).toMatch(/^api +stopped .*not started$/m);
  expect(status.err).toContain('the daemon is not running');
  expect(JSON.parse((await world.run('status', '-o', 'json')).out)).toMatchObject({
    daemon: { running: false },
    components: [{ name: 'api', state: 'stopped' }],
  });
  expect(await world.run('down')).toMatchObject({ code: 0, out: 'nothing is running\n' });
  expect((await world.run('crashes')).out).toBe('no crashes on record\n');
  expect((await world.run('events')).out).toBe('');
  expect(await world.run('why', 'api')).toMatchObject({
    code: 0,
    out: expect.stringContaining('no crash of it is on record'),
  });
  expect((await world.run('why', 'api', '-o', 'json')).out).toBe('null\n');
  expect((await world.run('why', '7')).code).toBe(1);
  for (const verb of ['start', 'stop', 'restart']) expect((await world.run(verb, 'api')).code).toBe(3);
});

test('usage errors exit 2 and suggest what was meant', async () => {
  await using world = new CliWorld();
  const cases: [string[], string][] = [
    [['statsu'], 'Did you mean "status"?'],
    [['status', '--exitcode'], 'Did you mean --exit-code?'],
    [['stop'], '--all'],
    [['stop', '--all', 'api'], 'not both'],
    [['up', '--timeout', '5'], 'Write 5s'],
    [['crashes', '--limit', '0'], 'from 1 to 1000'],
    [['wait'], 'NAME'],
    [['wait', 'api', '--for', 'godot'], 'Allowed choices'],
    [['status', '-o', 'xml'], 'text, json'],
    [['why', 'a', 'b'], 'argument'],
    [['logs', '--daemon', 'api'], 'not both'],
    [['up', '--attach', '-o', 'json'], '--attach'],
    [['status', '-f', 'missing.yaml'], 'missing.yaml'],
  ];
  for (const [args, mention] of cases) {
    const { code, out, err } = await world.run(...args);
    expect([args, code, out]).toEqual([args, 2, '']);
    expect(err).toContain(mention);
    expect(err).not.toMatch(/\n\s+at /);
  }
  const bare = await world.run();
  expect(bare.code).toBe(2);
  expect(bare.err).toContain('Which command answers what');
});

test('every command has help with an example', async () => {
  await using world = new CliWorld();
  const top = await world.run('--help');
  expect(top.code).toBe(0);
  for (const { usage, summary } of COMMANDS) {
    const name = usage.split(' ')[0]!;
    const { code, out, err } = await world.run(name, '--help');
    expect([name, code, err]).toEqual([name, 0, '']);
    expect(out).toMatch(/Examples:\n {2}keepwell /);
    expect(out).toContain(summary.slice(0, 20));
    expect(top.out).toContain(`  ${name}`);
  }
  expect(top.out).toContain('  status|ps|ls [NAME...]  ');
  expect((await world.run('help', 'status')).out).toContain('--exit-code');
  expect((await world.run('--version')).out).toBe('0.1.0\n');
});

test('start, stop and restart ask, wait and say what came of it', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  expect(await world.run('start', 'api')).toMatchObject({ code: 0, out: 'started: api\n' });
  const stopping = world.run('stop', 'api');
  await waitFor('the stop', () => control.asked.some(([what]) => what === 'stop'));
  control.emit({ ...event(1), type: 'component.stopping', run_id: 'r', data: { signal: 'SIGTERM' } });
  control.emit({ ...event(2), type: 'component.killed', run_id: 'r', data: { grace_ms: 10_000 } });
  control.components = [
    component('api', { state: 'stopped', ready: false, pid: null, desired: 'stopped' }),
    component('worker'),
  ];
  const stopped = await stopping;
  expect(stopped).toMatchObject({ code: 0, out: 'stopped: api\n' });
  expect(stopped.err).toContain('api: stopped');
  expect(stopped.err).toContain('api ignored SIGTERM for 10 s and was killed');
  const restarting = world.run('restart', '--all', '-o', 'json');
  await waitFor('the restart', () => control.asked.some(([what]) => what === 'restart'));
  control.components = control.components.map(({ name }) => component(name, { run_id: `${name}~new` }));
  expect(JSON.parse((await restarting).out).components.map((one: { run_id: string }) => one.run_id)).toEqual([
    'api~new',
    'worker~new',
  ]);
  expect(control.asked.at(-1)).toEqual(['restart', ['api', 'worker']]);
});

test('--no-wait returns at once', async () => {
  await using world = await CliWorld.served();
  expect(await world.run('stop', 'api', '--no-wait')).toMatchObject({ code: 0, out: 'asked to stop: api\n' });
  expect(JSON.parse((await world.run('stop', 'api', '--no-wait', '-o', 'json')).out).components).toHaveLength(1);
});

test('what does not come up in time is exit 5, with what is pending and why', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.components = [
    component('api', { state: 'waiting', ready: false, waiting_for: ['db'], note: 'waiting for db' }),
  ];
  const late = await world.run('start', 'api', '--timeout', '300ms', '-o', 'json');
  expect(late.code).toBe(5);
  expect(JSON.parse(late.out).components[0].state).toBe('waiting');
  const { error } = JSON.parse(late.err.trim().split('\n').at(-1)!);
  expect(error).toMatchObject({
    code: 'WAIT_TIMEOUT',
    message: 'Gave up waiting after 300 ms: api is waiting for db.',
  });
});

test('what gives up is exit 1, with its reason and where to look', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.components = [component('api', { state: 'starting', ready: false })];
  const starting = world.run('start', 'api');
  await waitFor('the start', () => control.asked.length > 0);
  control.components = [component('api', { state: 'gave-up', ready: false, note: 'gave up (limit): exit code 7' })];
  const { code, err } = await starting;
  expect(code).toBe(1);
  expect(err).toContain('error: api gave up (limit): exit code 7.');
  expect(err).toContain('keepwell why api');
});

test.each([
  ['ready', component('api'), 0],
  ['running', component('api', { ready: false }), 0],
  ['healthy', component('api'), 0],
  ['stopped', component('api', { state: 'stopped' }), 0],
  ['completed', component('api', { state: 'completed', ready: false }), 0],
  ['ready', component('api', { ready: false }), 5],
  ['ready', component('api', { state: 'gave-up', ready: false, note: 'gave up (limit)' }), 1],
])('wait --for %s', async (goal, view, expected) => {
  await using world = await CliWorld.served();
  world.served!.control.components = [view];
  expect((await world.run('wait', 'api', '--for', goal, '--timeout', '200ms')).code).toBe(expected);
  expect((await world.run('wait', 'nobody', '--timeout', '200ms')).code).toBe(4);
});

test('wait sees the moment', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.components = [component('api', { ready: false })];
  const waiting = world.run('wait', 'api', '-o', 'json');
  control.components = [component('api')];
  const { code, out } = await waiting;
  expect([code, JSON.parse(out).components[0].ready]).toEqual([0, true]);
});

test('Ctrl-C ends a wait with 130 and no error', async () => {
  await using world = await CliWorld.served();
  world.served!.control.components = [component('api', { ready: false })];
  const waiting = world.run('wait', 'api');
  world.ctrlC();
  expect(await waiting).toMatchObject({ code: 130, out: '', err: '' });
});

test('why: a dossier, by name or number; no crash is good news and no error', async () => {
  await using world = await CliWorld.served();
  world.served!.control.crashList.push(why(3, 'api'));
  expect((await world.run('why', 'api')).out).toContain('api died: exit code 1');
  expect(JSON.parse((await world.run('why', '3', '-o', 'json')).out)).toEqual(why(3, 'api'));
  expect((await world.run('why', '#3')).code).toBe(0);
  expect((await world.run('why', '4')).err).toContain('There is no crash 4 on record.');
  const fine = await world.run('why', 'worker');
  expect(fine).toMatchObject({ code: 0, out: 'worker is running and fine; no crash of it is on record\n' });
  expect((await world.run('why', 'wroker')).code).toBe(4);
});

test('a component whose name is a number is meant by its name', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.components = [component('42')];
  control.crashList.push(why(42, 'api'), why(50, '42'));
  expect(JSON.parse((await world.run('why', '42', '-o', 'json')).out).id).toBe(50);
});

test('crashes: a table, or the view as it is', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.crashList.push(why(1, 'api'), why(2, 'worker'));
  expect((await world.run('crashes')).out.split('\n')).toHaveLength(4);
  expect(JSON.parse((await world.run('crashes', '--component', 'api', '-o', 'json')).out).crashes).toHaveLength(1);
  expect((await world.run('crashes', '--component', 'nobody')).code).toBe(4);
  expect((await world.run('crashes', '--last', '1s')).out).toBe('no crashes on record\n');
});

test('events: lines for people, JSON lines for programs, and on with -f over a reconnect', async () => {
  await using world = await CliWorld.served();
  const { control, server } = world.served!;
  control.emit(event(1));
  control.emit(event(2, 'worker'));
  expect((await world.run('events')).out.trim().split('\n')).toHaveLength(2);
  const lines = (await world.run('events', '-o', 'json')).out.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual([1, 2]);
  expect((await world.run('events', '--component', 'worker', '-o', 'json')).out.trim().split('\n')).toHaveLength(1);
  expect((await world.run('events', '--component', 'nobody')).code).toBe(4);
  const following = world.run('events', '-f', '--after', '1', '-o', 'json');
  const seen = () =>
    world.out
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).seq);
  await waitFor('the stream', () => control.listeners.size === 1);
  control.emit(event(3));
  await waitFor('the third event', () => seen().includes(3));
  server.closeAllConnections();
  control.emit(event(4));
  await waitFor('the fourth event, after the cut', () => seen().includes(4));
  world.ctrlC();
  expect((await following).code).toBe(130);
  expect(seen()).toEqual([2, 3, 4]);
});

test('down waits until the daemon is gone', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  const { code, out } = await world.run('down', '-o', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ action: 'down', still_running: [] });
  expect(control.asked).toEqual([['down', []]]);
});

test('errors of the daemon come out with their exit codes', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  control.failure = new AppError('STORE_UNAVAILABLE', { problem: 'disk \u001b[2Jgone' });
  const { code, err } = await world.run('status');
  expect(code).toBe(1);
  expect(err).toContain('error: The history cannot be read: disk gone');
  control.failure = new TypeError('inner');
  expect((await world.run('status')).code).toBe(70);
});

test('no stack, unless asked for', async () => {
  await using world = await CliWorld.served();
  world.served!.control.failure = new TypeError('inner');
  expect((await world.run('status')).err).not.toMatch(/\n\s+at /);
  world.env['KEEPWELL_DEBUG'] = '1';
  expect((await world.run('status')).err).toMatch(/\n\s+at /);
});

test('version: mine and the one that runs', async () => {
  await using world = await CliWorld.served();
  expect((await world.run('version')).out).toBe('keepwell 0.1.0 (Node 20.19.0)\nthe running daemon is 0.1.0\n');
  expect(JSON.parse((await world.run('version', '-o', 'json')).out)).toEqual({
    schema_version: 1,
    version: '0.1.0',
    node: '20.19.0',
    daemon: '0.1.0',
  });
});

test('on a terminal progress redraws itself and status has colours', async () => {
  await using world = await CliWorld.served();
  world.isTty = true;
  expect((await world.run('status')).out).toContain('\u001b[32mrunning');
  expect((await world.run('status', '--no-color')).out).not.toContain('\u001b');
  world.env['NO_COLOR'] = '1';
  expect((await world.run('status')).out).not.toContain('\u001b');
  const { control } = world.served!;
  control.components = [component('api', { ready: false })];
  const starting = world.run('start', 'api');
  await waitFor('two pictures', () => world.err.includes('\u001b[2A'));
  control.components = [component('api')];
  expect((await starting).code).toBe(0);
});

test('status --watch redraws until Ctrl-C and gives the screen back', async () => {
  await using world = await CliWorld.served();
  world.isTty = true;
  const watching = world.run('status', '--watch');
  await waitFor('a picture', () => world.out.includes('api'));
  world.ctrlC();
  expect((await watching).code).toBe(130);
  expect(world.out.startsWith('\u001b[?1049h')).toBe(true);
  expect(world.out.endsWith('\u001b[?1049l')).toBe(true);
});

test('validate and schema', async () => {
  await using world = new CliWorld();
  expect((await world.run('validate')).out).toContain('valid: 1 component in');
  expect(JSON.parse((await world.run('schema')).out)['$schema']).toContain('json-schema.org');
  writeFileSync(world.dir.at('keepwell.yaml'), 'sessions: { templates: { web: { image: web, port: 80 } } }\n');
  expect((await world.run('validate')).out).toContain('valid: 1 session template in');
  writeFileSync(world.dir.at('keepwell.yaml'), 'components:\n  api:\n    proces: {}\n');
  const bad = await world.run('validate');
  expect(bad).toMatchObject({ code: 2, out: '' });
  expect(bad.err).toContain('keepwell.yaml:3');
  const json = await world.run('validate', '-o', 'json');
  expect(json).toMatchObject({ code: 2, err: '' });
  expect(JSON.parse(json.out)).toMatchObject({ valid: false });
  expect(JSON.parse(json.out).problems[0]).toMatchObject({ line: 3 });
  expect((await world.run('up')).code).toBe(2);
});
