import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { AgentsReportView, AgentsView, AgentView } from '../../src/agents/rules/views.ts';
import type { Failpoint } from '../../src/base/failpoints.ts';
import type { TicketsView } from '../../src/incidents/tickets/rules/view.ts';
import type { EventsView, WhyView } from '../../src/supervision/rules/views.ts';
import { ENTRY, isAlive, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

async function list(project: TestProject): Promise<readonly AgentView[]> {
  return (JSON.parse(await project.ok('-o', 'json', 'agents', 'list', '--all')) as AgentsView).agents;
}

const until = (project: TestProject, what: string, fact: (agent: AgentView) => boolean): Promise<AgentView> =>
  waitFor(`the agent to be ${what}`, async () => (await list(project)).find(fact));

async function report(project: TestProject): Promise<AgentsReportView> {
  return JSON.parse((await project.cli('-o', 'json', 'agents', 'report')).stdout) as AgentsReportView;
}

async function why(project: TestProject, type: string): Promise<WhyView> {
  return JSON.parse(await project.ok('-o', 'json', 'why', type)) as WhyView;
}

/** What happened to one run. */
async function told(project: TestProject, run: string | null): Promise<readonly string[]> {
  const lines = (await project.ok('-o', 'json', 'events')).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as EventsView['events'][number])
    .filter(({ type, run_id }) => run_id === run && type.startsWith('agent.'))
    .map(({ type }) => type);
}

/** Writes a file of its own again and again, and ends with the exit code that stands in another one. */
const BEATER = `
echo "working on $1"
until [ -s "$1.end" ]; do echo > "$1.beat"; sleep 0.1; done
read -r code < "$1.end"
exit "$code"
`;

/** So long that nobody is taken for hanging whose turn does not come for a while on a busy machine. */
const FREEZE_AFTER = '8s';

test('an agent that is stopped in its tracks is noticed, examined, ended, respawned and explained', async () => {
  await using project = new TestProject(`
agents:
  every: 1s
  types:
    thinker:
      command: [sh, beater.sh, "{task}"]
      heartbeat: { file: "{task}.beat", freeze_after: ${FREEZE_AFTER} }
      stop: { grace: 1s }
      backoff: { initial: 100ms }
tickets: { after_crashes: 1, trackers: [{ local: { dir: tickets } }] }
`);
  project.write('beater.sh', BEATER);
  await project.ok('up');
  await project.ok('spawn', 'thinker', '--task', 'A');
  const beating = await until(project, 'heard', ({ heartbeat }) => (heartbeat?.last_beat_at ?? null) !== null);
  expect(beating).toMatchObject({ condition: null, heartbeat: { source: 'file A.beat', limit_ms: 8_000 } });
  expect(await project.ok('agents')).toMatch(/TYPE +TASK +STATE +PID +UPTIME +BEAT +RESPAWNS/);
  kill(beating.pid!, 'SIGSTOP');
  const frozen = await until(project, 'frozen', ({ condition }) => condition === 'frozen');
  expect(frozen.note).toContain('frozen: ');
  const found = await waitFor('the report to say so', async () => {
    const said = await report(project);
    return said.issues.find(({ type }) => type === 'agent_frozen') ?? null;
  });
  expect(found).toMatchObject({ agent_type: 'thinker', task_id: 'A', agent_pid: beating.pid });
  const fresh = await until(project, 'respawned', ({ state, respawns }) => state === 'running' && respawns === 1);
  expect(isAlive(beating.pid!)).toBe(false);
  expect(fresh.pid).not.toBe(beating.pid);
  const { exit, freeze, decision, task_id } = await why(project, 'thinker');
  expect(exit.unhealthy).toBe('frozen: its process is stopped (SIGSTOP), no heartbeat for 8 s');
  expect([task_id, decision]).toEqual(['A', expect.stringContaining('(1 of 3)')]);
  expect(freeze?.steps.map(({ text }) => text).join('; ')).toMatch(/SIGINT sent; SIGTERM sent; SIGKILL sent/);
  expect(freeze?.evidence.join('\n')).toContain(`${beating.pid} (`);
  expect(await project.ok('why', 'thinker')).toContain('What it was doing:');
  const { tickets } = JSON.parse(await project.ok('-o', 'json', 'tickets', 'list')) as TicketsView;
  expect(tickets).toMatchObject([{ category: 'freeze', error_logs: expect.stringContaining(`${beating.pid} (`) }]);
  expect(await told(project, beating.run_id)).toEqual([
    ...['agent.spawned', 'agent.started', 'agent.frozen', 'agent.examined', 'agent.stopping', 'agent.stopping'],
    'agent.crashed',
  ]);
}, 240_000);

/** Waits for ever for something that never comes, and cannot be told to end: no signal handler is ever run. */
const DEADLOCK = `
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {});
console.log('step 1');
setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0), 100);
`;

test('an agent in a deadlock is noticed by its log; with never_on and a timeout it is not tried for ever', async () => {
  await using project = new TestProject(`
agents:
  max_respawns: 1
  types:
    stuck:
      command: [node, deadlock.mjs, "{task}"]
      heartbeat: { log_every: 1s, log_pattern: step, freeze_after: 1s }
      stop: { grace: 1s }
      backoff: { initial: 100ms }
    refuses: { command: [sh, -c, "exit 78", sh, "{task}"], never_on: [78] }
    slow: { command: [sleep, "1000"], timeout: 2s, stop: { grace: 1s }, backoff: { initial: 100ms } }
`);
  project.write('deadlock.mjs', DEADLOCK);
  await project.ok('up');
  for (const type of ['stuck', 'refuses', 'slow']) await project.ok('spawn', type, '--task', 'A');
  const refused = await until(
    project,
    'given up',
    ({ agent_type: type, state }) => type === 'refuses' && state === 'gave-up',
  );
  expect(refused).toMatchObject({ respawns: 0, last_exit: { code: 78 } });
  expect((await why(project, 'refuses')).decision).toBe('gave up: exit code 78 is listed in never_on');

  const slow = await until(
    project,
    'given up',
    ({ agent_type: type, state }) => type === 'slow' && state === 'gave-up',
  );
  const REASON = 'it ran longer than its timeout of 2 s';
  expect(slow).toMatchObject({ respawns: 1, error: REASON, last_exit: { signal: 'SIGTERM', unhealthy: REASON } });
  const overrun = await why(project, 'slow');
  expect(overrun).toMatchObject({ root_cause: REASON, freeze: { timeout: true, reason: REASON } });
  expect(overrun.freeze?.evidence.join('\n')).toContain('(sleep), main process');
  expect(await project.ok('why', 'slow')).toMatch(/It ran too long:\n.*its time was up/);
  expect((await report(project)).issues.filter(({ agent_type: type }) => type === 'slow')).toMatchObject([
    { type: 'agent_timeout', error: REASON, action_taken: 'gave up' },
    { type: 'agent_timeout', error: REASON, action_taken: 'respawned' },
  ]);

  await until(project, 'given up', ({ agent_type: type, state }) => type === 'stuck' && state === 'gave-up');
  const deadlock = await why(project, 'stuck');
  expect(deadlock.exit).toMatchObject({ signal: 'SIGKILL', unhealthy: 'frozen: no heartbeat for 2 s' });
  expect((await project.crashes()).map(({ agent_type: type }) => type).sort()).toEqual([
    ...['refuses', 'slow', 'slow', 'stuck', 'stuck'],
  ]);
}, 240_000);

/** Beats with the command line, as a script would. */
const PINGS = `
echo "I am $KEEPWELL_RUN"
while [ ! -e quiet ]; do "$NODE" "$CLI" beat || exit 9; sleep 0.2; done
exec sleep 1000
`;

test('an agent beats by "keepwell beat", without saying who it is, from any folder', async () => {
  await using project = new TestProject(`
agents:
  types:
    pings:
      command: [sh, ../pings.sh, "{task}"]
      cwd: elsewhere
      env: { CLI: "${ENTRY}", NODE: "${process.execPath}" }
      heartbeat: { ping: true, freeze_after: 1h }
    quiet: { command: [sleep, "1000"] }
`);
  project.write('pings.sh', PINGS);
  mkdirSync(project.path('elsewhere'));
  await project.ok('up');
  await project.ok('spawn', 'pings', '--task', 'A');
  const { log } = await until(project, 'heard', ({ heartbeat }) => (heartbeat?.last_beat_at ?? null) !== null);
  expect(await project.cli('beat', log!)).toEqual({ code: 0, stdout: '', stderr: '' });
  await project.ok('spawn', 'quiet', '--task', 'A');
  const quiet = await until(
    project,
    'running',
    ({ agent_type: type, state }) => type === 'quiet' && state === 'running',
  );
  expect(quiet.heartbeat).toBeNull();
  expect((await project.cli('beat', quiet.log!)).code).toBe(2);
  await project.ok('agents', 'stop', 'A');
  expect((await project.cli('beat', log!)).code).toBe(3);
}, 120_000);

const TIMES_OUT = `
agents:
  max_respawns: 1
  types:
    beater: { command: [sh, beater.sh, "{task}"], timeout: 3s, stop: { grace: 1s }, backoff: { initial: 100ms } }
`;

/** The first two steps are those of the spawn and of the start; then its time is up, it was examined, and it ended. */
test.each<[Failpoint, number]>([
  ['agent.before-commit', 3],
  ['agent.after-commit', 3],
  ['agent.before-commit', 4],
  ['agent.after-commit', 4],
  ['agent.after-commit', 5],
])(
  'kill -9 of the daemon at %s of step %i of a timeout: it is ended once, for that, and respawned once',
  async (point, nth) => {
    await using project = new TestProject(TIMES_OUT);
    project.write('beater.sh', BEATER);
    const first = project.start(['daemon'], { KEEPWELL_FAILPOINTS: `${point}=crash@${nth}` });
    const death = once(first, 'exit');
    await project.answered(first.pid!);
    await project.ok('spawn', 'beater', '--task', 'A');
    expect(await death).toEqual([null, 'SIGKILL']);
    const second = project.start(['daemon']);
    await project.answered(second.pid!);
    await until(project, 'given up', ({ state }) => state === 'gave-up');
    const crashes = await project.crashes();
    expect(crashes.map(({ exit }) => exit.unhealthy)).toEqual(Array(2).fill('it ran longer than its timeout of 3 s'));
    const pids = crashes.map(({ agent_pid: pid }) => pid!);
    expect([new Set(pids).size, pids.some(isAlive)]).toEqual([2, false]);
  },
  120_000,
);

test('time goes on while there is no daemon: what overran then is ended, what finished then has finished', async () => {
  await using project = new TestProject(TIMES_OUT.replace('3s', '6s'));
  project.write('beater.sh', BEATER);
  await project.ok('up');
  await project.ok('spawn', 'beater', '--task', 'A');
  await project.ok('spawn', 'beater', '--task', 'B');
  const running = ({ state }: AgentView) => state === 'running';
  const started = await waitFor('both to run', async () => {
    const found = (await list(project)).filter(running);
    return found.length === 2 ? found : null;
  });
  kill(project.guardianPid()!);
  kill(project.daemonPid()!);
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
  const timesUp = Math.max(...started.map(({ timeout_at: at }) => Date.parse(at!)));
  await waitFor('their time to be up', () => Date.now() > timesUp);
  const b = started.find(({ task_id: task }) => task === 'B')!;
  project.write('B.end', '0\n');
  await waitFor('one of them to finish', () => !isAlive(b.pid!));
  await project.ok('up');
  await until(project, 'found finished', ({ task_id: task, state }) => task === 'B' && state === 'finished');
  const crashes = await waitFor('the crash of the other', async () => {
    const found = await project.crashes();
    return found.length > 0 ? found : null;
  });
  const reasons = new Set(crashes.map(({ task_id: task, exit }) => `${task}: ${exit.unhealthy}`));
  expect([...reasons]).toEqual(['A: it ran longer than its timeout of 6 s']);
  const a = started.find(({ task_id: task }) => task === 'A')!;
  expect(crashes.filter(({ run_id }) => run_id === a.run_id)).toHaveLength(1);
  expect(await told(project, a.run_id)).toContain('agent.timed-out');
}, 120_000);

test('kill -9 of the daemon in the middle of a freeze: its time begins again, and it is ended once', async () => {
  const FREEZES = `
agents:
  types:
    beater: { command: [sh, beater.sh, "{task}"], heartbeat: { file: "{task}.beat", freeze_after: ${FREEZE_AFTER} }, stop: { grace: 1s } }
`;
  await using project = new TestProject(FREEZES);
  project.write('beater.sh', BEATER);
  await project.ok('up');
  await project.ok('spawn', 'beater', '--task', 'A');
  const { pid } = await until(project, 'heard', ({ heartbeat }) => (heartbeat?.last_beat_at ?? null) !== null);
  kill(pid!, 'SIGSTOP');
  await until(project, 'frozen', ({ condition }) => condition === 'frozen');
  kill(project.daemonPid()!); // the guardian brings the next one
  await until(project, 'ended', ({ state, condition }) => state === 'stopping' && condition === 'frozen');
  kill(project.daemonPid()!);
  const again = await until(project, 'respawned', ({ state, respawns }) => state === 'running' && respawns === 1);
  expect([isAlive(pid!), again.pid === pid]).toEqual([false, false]);
  expect((await project.crashes()).map(({ agent_pid, exit }) => [agent_pid, exit.unhealthy])).toEqual([
    [pid, expect.stringContaining('frozen: ')],
  ]);
  const { freeze } = await why(project, 'beater');
  expect(freeze?.evidence.join('\n')).toContain(`${pid} (`);
}, 240_000);

test('simulate-crash makes an agent hang, if something would notice', async () => {
  await using project = new TestProject(`
agents:
  types:
    beater:
      command: [sh, beater.sh, "{task}"]
      heartbeat: { file: "{task}.beat", freeze_after: ${FREEZE_AFTER} }
      stop: { grace: 1s }
      backoff: { initial: 100ms }
    quiet: { command: [sleep, "1000"] }
`);
  project.write('beater.sh', BEATER);
  await project.ok('up');
  await project.ok('spawn', 'quiet', '--task', 'A');
  const refused = await project.cli('simulate-crash', '--agent', 'quiet', '--kind', 'hang');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('nothing would notice')]);
  expect((await project.cli('simulate-crash', '--agent', 'beater', '--kind', 'hang')).stderr).toContain(
    'keepwell spawn',
  );
  await project.ok('spawn', 'beater', '--task', 'A');
  await until(project, 'heard', ({ heartbeat }) => (heartbeat?.last_beat_at ?? null) !== null);
  const said = await project.ok('simulate-crash', '--agent', 'beater', '--kind', 'hang', '--task', 'A');
  expect(said).toContain('SIGSTOP to all processes of the agent that works on A');
  await until(project, 'respawned', ({ state, respawns }) => state === 'running' && respawns === 1);
  const { root_cause: cause, exit } = await why(project, 'beater');
  expect([cause, exit.unhealthy]).toEqual([
    expect.stringMatching(/^simulated with/),
    expect.stringContaining('SIGSTOP'),
  ]);
  expect((await report(project)).metrics.crashed_agents_last_hour).toBe(0);
}, 240_000);
