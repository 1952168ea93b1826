import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import type { EventsView, WhyView } from '../../src/supervision/rules/views.ts';
import { freePort } from '../support/free-port.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** Its loop stops after three ticks. Its pid, its port and a child that talks all the time stay, and it does not want to go. */
const STUCK = `
const { spawn } = require('node:child_process');
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => console.log('not now'));
process.on('SIGUSR2', () => console.log('stuck in the loop, token=abcdefgh'));
spawn('sh', ['-c', 'while :; do echo chat; sleep 0.2; done'], { stdio: 'inherit' });
require('node:net').createServer().listen(0, '127.0.0.1', function () {
  console.log('port ' + this.address().port);
  let ticks = 0;
  const loop = setInterval(() => (console.log('tick'), ++ticks === 3 && clearInterval(loop)), 100);
});
`;

/** It works without a word until the file is there. */
const BUSY = `
const { existsSync } = require('node:fs');
setInterval(() => {
  console.log('tick');
  for (let n = 0; !existsSync('enough'); n++) Math.sqrt(n);
}, 200);
`;

const CONFIG = `
components:
  stuck:
    process: { command: [node, stuck.cjs] }
    heartbeat: { log_every: 1s, log_pattern: tick, freeze_after: 1s, dump_signal: SIGUSR2 }
    stop: { grace: 1s }
  busy:
    process: { command: [node, busy.cjs] }
    heartbeat: { log_every: 1s, freeze_after: 5s }
  pings:
    process: { command: [sleep, "1000"] }
    heartbeat: { ping: true, freeze_after: 1h }
`;

async function events(project: TestProject, component: string): Promise<EventsView['events']> {
  const lines = (await project.ok('-o', 'json', 'events')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as EventsView['events'][number])
    .filter(({ subject }) => subject.name === component);
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true));
    socket.once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });

test('a worker without progress is replaced with its evidence kept, also over a killed daemon; a busy one is not', async () => {
  await using project = new TestProject(CONFIG);
  project.write('stuck.cjs', STUCK);
  project.write('busy.cjs', BUSY);
  await project.ok('up');
  const { pid, run_id } = await project.until('stuck', 'frozen', ({ condition }) => condition === 'frozen');
  const [, port] = [...project.log('stuck').matchAll(/port (\d+)/g)].at(-1)!;
  expect(await isOpen(Number(port))).toBe(true);
  process.kill(project.daemonPid()!, 'SIGKILL');

  const busy = await waitFor('the busy one to be looked at', async () => {
    const seen = (await events(project, 'busy')).find(({ type }) => type === 'component.examined');
    return seen?.data ?? null;
  });
  expect(busy).toMatchObject({ busy: expect.stringContaining('busy: '), postponed_ms: 5_000 });
  writeFileSync(project.path('enough'), '');
  await project.until('busy', 'heard again', ({ condition }) => condition === null);

  const fresh = await waitFor('the stuck one to be replaced', async () => {
    const view = await project.component('stuck');
    return view.state === 'running' && view.run_id !== run_id ? view : null;
  });
  expect(fresh.last_restart?.reason).toBe('frozen: no heartbeat for 2 s');
  expect(project.processes().some((one) => one.pid === pid)).toBe(false);
  const why = JSON.parse(await project.ok('-o', 'json', 'why', 'stuck')) as WhyView;
  expect(why.exit).toMatchObject({ signal: 'SIGKILL', unhealthy: 'frozen: no heartbeat for 2 s' });
  const steps = why.freeze!.steps.map(({ text }) => text).join('; ');
  expect(steps).toMatch(/no heartbeat for 2 s;.* SIGINT sent; SIGTERM sent; SIGKILL sent to all its processes$/);
  const evidence = why.freeze!.evidence.join('\n');
  // Newer Node calls its first thread MainThread.
  expect(evidence).toMatch(new RegExp(`^${pid} \\((node|MainThread)\\), main process: waiting`, 'm'));
  expect(evidence).toContain(`tcp 127.0.0.1:${port} listening`);
  expect(evidence).toContain('(sh), child of');
  expect(evidence).toContain('stuck in the loop, token=[redacted]');
  expect(await project.ok('why', 'stuck')).toContain('What it was doing:');

  const calm = await project.component('busy');
  expect(calm).toMatchObject({ state: 'running', restarts: 0, condition: null, heartbeat: { source: 'log' } });
  expect((await events(project, 'busy')).map(({ type }) => type)).toContain('component.thawed');
}, 180_000);

/** Its work is stuck, but the thread that answers requests is not, and writes a line for each. */
const ANSWERS = `
const port = Number(process.argv[2]);
require('node:http').createServer((request, response) => {
  console.log('answered ' + request.url);
  response.end('fine');
}).listen(port, '127.0.0.1');
`;

test('a stuck worker is found although it logs every request of its own probes', async () => {
  const [busy, idle] = [await freePort(), await freePort()];
  const answering = (port: number, probe: string) => `
    process: { command: [node, answers.cjs, "${port}"] }
    liveness: { ${probe}, period: 1s, timeout: 30s }
    heartbeat: { log_every: 2s, freeze_after: 3s }
`;
  await using project = new TestProject(
    `components:\n  http:${answering(busy, `http: { port: ${busy} }`)}  tcp:${answering(idle, `tcp: ${idle}`)}`,
  );
  project.write('answers.cjs', ANSWERS);
  await project.ok('up');
  await project.until('tcp', 'frozen', ({ condition }) => condition === 'frozen');
  await project.until('http', 'frozen', ({ condition }) => condition === 'frozen');
  expect(project.log('http')).toContain('answered /');
  const [frozen] = (await events(project, 'http')).filter(({ type }) => type === 'component.frozen');
  expect(JSON.stringify(frozen)).toContain('its log has new lines only when its own probes ask it');
}, 180_000);

test('a ping is heard, quietly, and refused with the exit codes that scripts know', async () => {
  await using project = new TestProject(CONFIG);
  await project.ok('up', 'pings');
  expect((await project.component('pings')).heartbeat).toMatchObject({ source: 'ping', last_beat_at: null });
  expect(await project.cli('beat', 'pings')).toEqual({ code: 0, stdout: '', stderr: '' });
  const { heartbeat, run_id } = await project.component('pings');
  expect(heartbeat?.last_beat_at).not.toBeNull();
  expect(await project.ok('status', '--verbose', 'pings')).toMatch(/Beats: +last beat .* by ping, frozen after 1 h/);
  const inside = { KEEPWELL_RUN: run_id!, KEEPWELL_SOCKET: `${project.home}/keepwell.sock` };
  expect((await project.cliWith(inside, '-o', 'json', 'beat')).stdout).toContain('"component": "pings"');
  expect((await project.cli('beat', 'ping')).stderr).toContain('Did you mean "pings"?');
  expect((await project.cli('beat', 'ping')).code).toBe(4);
  expect((await project.cli('beat', 'busy')).code).toBe(2);
  await project.ok('stop', 'pings');
  expect((await project.cli('beat', 'pings')).code).toBe(3);
  await project.ok('down');
  expect((await project.cli('beat', 'pings')).code).toBe(3);
});
