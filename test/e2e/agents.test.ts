import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AgentsReportView, AgentsView, AgentView } from '../../src/agents/rules/views.ts';
import type { Failpoint } from '../../src/base/failpoints.ts';
import type { TicketsView } from '../../src/incidents/tickets/rules/view.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

async function list(project: TestProject): Promise<readonly AgentView[]> {
  return (JSON.parse(await project.ok('-o', 'json', 'agents', 'list', '--all')) as AgentsView).agents;
}

async function until(project: TestProject, what: string, fact: (agent: AgentView) => boolean): Promise<AgentView> {
  return waitFor(`the agent to be ${what}`, async () => (await list(project)).find(fact));
}

async function report(project: TestProject) {
  const { code, stdout } = await project.cli('-o', 'json', 'agents', 'report');
  return { code, ...(JSON.parse(stdout) as AgentsReportView) };
}

/** Dies as a program does whose import has gone. */
const IMPORT_ERROR = `#!/bin/sh
echo "working on $1"
sleep 2
cat >&2 <<'TRACE'
Traceback (most recent call last):
  File "agents/architect.py", line 3, in <module>
    from agents.skills import SkillNames
ImportError: cannot import name 'SkillNames' from 'agents.skills' (agents/skills.py)
TRACE
exit 1
`;

test('an agent that dies of an ImportError is seen, read, respawned, and has one ticket after the third crash', async () => {
  await using project = new TestProject(`
agents:
  every: 1s
  types:
    architect: { command: [./agent.sh, "{task}"], assigned_to: code_developer, backoff: { initial: 200ms, factor: 1 } }
tickets: { trackers: [{ local: { dir: tickets } }] }
`);
  project.write('agent.sh', IMPORT_ERROR);
  await project.ok('up');
  await project.ok('spawn', 'architect', '--task', 'SPEC-111');
  const tickets = async () => (JSON.parse(await project.ok('-o', 'json', 'tickets', 'list')) as TicketsView).tickets;
  await waitFor('the third crash', async () => (await project.crashes()).length >= 3);
  const [ticket, ...more] = await waitFor('the ticket', async () => {
    const found = await tickets();
    return found.length > 0 ? found : null;
  });
  expect(more).toEqual([]);
  expect(ticket).toMatchObject({ number: 'BUG-001', state: 'open', priority: 'high', assigned_to: 'code_developer' });
  expect(ticket!.root_cause).toContain("no export 'SkillNames'");
  expect(ticket!.related_files).toContain('agents/skills.py');
  expect(ticket!.error_logs).toContain('Traceback (most recent call last):');
  expect(ticket!.reproduction_steps.join('\n')).toContain('keepwell spawn architect --task SPEC-111');
  const ended = await until(project, 'given up', ({ state }) => state === 'gave-up');
  expect(ended).toMatchObject({ respawns: 3, max_respawns: 3, error: expect.stringContaining('SkillNames') });
  const crashes = await project.crashes();
  expect(crashes.map(({ decision }) => decision.replace(/ in [\d.]+ m?s/, ''))).toEqual([
    'gave up: its 3 respawns are used up',
    ...[3, 2, 1].map((number) => `respawn (${number} of 3)`),
  ]);
  expect(crashes[0]).toMatchObject({
    ...{ subject: { kind: 'agent', name: 'architect' }, agent_type: 'architect', task_id: 'SPEC-111' },
    ...{ error_type: 'ImportError', ticket: 'BUG-001', exit: { code: 1 } },
  });
  expect((await tickets()).map(({ number, count }) => [number, count])).toEqual([['BUG-001', 4]]);
  await waitFor(
    'its file',
    () =>
      existsSync(project.path('tickets')) && readdirSync(project.path('tickets')).some((name) => name.endsWith('.md')),
  );
  expect(readdirSync(project.path('tickets')).filter((name) => name.endsWith('.md'))).toHaveLength(1);
  const said = await waitFor('a pass after the end', async () => {
    const found = await report(project);
    return found.metrics.crashed_agents_last_hour === 4 ? found : null;
  });
  expect(said).toMatchObject({ code: 1, status: 'degraded', metrics: { active_agents: 0, respawn_success_rate: 0 } });
  expect(said.issues[0]).toMatchObject({
    type: 'agent_crash',
    action_taken: 'gave up',
    bug_reported: true,
    bug_number: 1,
  });
});

/** Writes down what it was given and who it is, then stays, or ends as the file "end" says. */
const RECORDER = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
appendFileSync('seen', JSON.stringify({ pid: process.pid, argv: process.argv.slice(2), task: process.env.TASK }) + '\\n');
const said = () => existsSync('end') ? readFileSync('end', 'utf8') : ''; // empty while somebody writes it
setInterval(() => { if (said() !== '') process.exit(Number(said())); }, 20);
`;
const CONFIG = `
agents:
  every: 1s
  types:
    recorder:
      command: [node, ./recorder.mjs, "{task}", "--id={task}"]
      env: { TASK: "{task}" }
      backoff: { initial: 100ms }
      stop: { grace: 20s }
`;

const seen = (project: TestProject) =>
  project
    .read('seen')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { pid: number; argv: readonly string[]; task: string });

const alive = (project: TestProject) =>
  project.processes().filter(({ command }) => command.startsWith('node ./recorder.mjs'));

test('a task is one argument whatever it contains, and what cannot be one is refused', async () => {
  await using project = new TestProject(CONFIG);
  project.write('recorder.mjs', RECORDER);
  await project.ok('up');
  const tasks = ['two\nlines "quoted" \'so\' $(id) `id` ; & |', '--help', '-', '{task}', '* ? ~', 'ünï\u202ecode'];
  for (const task of tasks) await project.ok('spawn', 'recorder', `--task=${task}`);
  await waitFor('all of them', () => seen(project).length === tasks.length);
  const told = seen(project).map(({ argv, task }) => [argv, task]);
  expect(new Map(told.map(([argv, task]) => [task, argv]))).toEqual(
    new Map(tasks.map((task) => [task, [task, `--id=${task}`]])),
  );
  for (const task of ['', 'x'.repeat(1_025)])
    expect((await project.cli('spawn', 'recorder', `--task=${task}`)).code).toBe(2);
  expect(await project.ok('why', 'recorder')).toBe('no crash of recorder is on record\n');
  const unknown = await project.cli('spawn', 'recordr', '--task', 'A');
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('"recorder"')]);
  const again = await project.cli('spawn', 'recorder', '--task=--help');
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already works on the task')]);
});

test('an agent lives on when the daemon is killed, and its exit code is known afterwards', async () => {
  await using project = new TestProject(CONFIG);
  project.write('recorder.mjs', RECORDER);
  await project.ok('up');
  await project.ok('spawn', 'recorder', '--task', 'A');
  const { pid } = await until(project, 'running', ({ state }) => state === 'running');
  kill(project.guardianPid()!);
  kill(project.daemonPid()!);
  await waitFor('the daemon to be gone', () => project.daemonPid() === null);
  expect((await list(project))[0]).toMatchObject({ task_id: 'A', note: expect.stringContaining('not checked') });
  expect(await project.ok('agents')).toMatch(/recorder +A +running +\d+ +- +0 +not checked/);
  project.write('end', '7');
  await waitFor('its end', () => alive(project).length === 0);
  project.write('end', '0');
  await project.ok('up');
  const finished = await until(project, 'finished', ({ state }) => state === 'finished');
  expect(finished).toMatchObject({ respawns: 1 });
  const [crash] = await project.crashes();
  expect(crash).toMatchObject({ exit: { code: 7 }, task_id: 'A', decision: expect.stringContaining('1 of 3') });
  expect(seen(project).map((each) => each.pid)[0]).toBe(pid);
});

describe('kill -9 of the daemon', () => {
  const POINTS: readonly Failpoint[] = [
    ...(['agent.before-commit', 'agent.after-commit', 'spawn.before-dir', 'spawn.after-dir'] as const),
    ...(['spawn.before-shim', 'spawn.after-shim'] as const),
  ];

  test.each(POINTS)('at %s of a spawn leaves one agent and never two', async (point) => {
    await using project = new TestProject(CONFIG);
    project.write('recorder.mjs', RECORDER);
    // The launcher makes the directory of a run; only with the shim of sh does the daemon make it itself.
    const shim = point === 'spawn.after-dir' ? { KEEPWELL_SHIM: 'sh' } : {};
    const first = project.start(['daemon'], { KEEPWELL_FAILPOINTS: `${point}=crash`, ...shim });
    const death = once(first, 'exit');
    await project.answered(first.pid!);
    await project.cli('spawn', 'recorder', '--task', 'A');
    expect(await death).toEqual([null, 'SIGKILL']);
    const second = project.start(['daemon']);
    await project.answered(second.pid!);
    await project.cli('spawn', 'recorder', '--task', 'A'); // refused, unless the first one was never written down
    const agent = await until(project, 'running', ({ state }) => state === 'running');
    expect(agent).toMatchObject({ respawns: 0 });
    await waitFor('it to say who it is', () => seen(project).some(({ pid }) => pid === agent.pid));
    expect(alive(project).map(({ pid }) => pid)).toEqual([agent.pid]);
    expect(await project.crashes()).toEqual([]);
  });

  test.each<Failpoint>(['exit.seen', 'agent.before-commit', 'agent.after-commit'])(
    'at %s of an end counts the crash once',
    async (point) => {
      await using project = new TestProject(CONFIG);
      project.write('recorder.mjs', RECORDER);
      // The first two steps are those of the spawn and of the start.
      const nth = point === 'exit.seen' ? 1 : 3;
      const first = project.start(['daemon'], { KEEPWELL_FAILPOINTS: `${point}=crash@${nth}` });
      const death = once(first, 'exit');
      await project.answered(first.pid!);
      await project.ok('spawn', 'recorder', '--task', 'A');
      const agent = await until(project, 'running', ({ state }) => state === 'running');
      await waitFor('it to say who it is', () => seen(project).length === 1);
      kill(agent.pid!);
      expect(await death).toEqual([null, 'SIGKILL']);
      const second = project.start(['daemon']);
      await project.answered(second.pid!);
      const again = await until(project, 'respawned', ({ state, respawns }) => state === 'running' && respawns === 1);
      expect((await project.crashes()).map(({ exit }) => exit.signal)).toEqual(['SIGKILL']);
      await waitFor('the new one to say who it is', () => seen(project).some(({ pid }) => pid === again.pid));
      expect(alive(project).map(({ pid }) => pid)).toEqual([again.pid]);
    },
  );
});

test('an agent that is stopped is not respawned; down stops all, a daemon that only ends brings them back', async () => {
  await using project = new TestProject(CONFIG);
  project.write('recorder.mjs', RECORDER);
  await project.ok('up');
  for (const task of ['A', 'B', 'C']) await project.ok('spawn', 'recorder', '--task', task);
  await waitFor('all of them', () => seen(project).length === 3);
  await project.ok('agents', 'stop', 'A');
  const b = (await list(project)).find(({ task_id: task }) => task === 'B');
  await project.ok('agents', 'stop', String(b!.pid));
  expect((await list(project)).map(({ task_id: task, state }) => `${task} ${state}`)).toEqual([
    ...['A stopped', 'B stopped', 'C running'],
  ]);
  expect((await project.cli('agents', 'stop', 'nobody')).code).toBe(4);
  kill(project.daemonPid()!, 'SIGTERM');
  await waitFor('everything to be stopped', () => project.daemonPid() === null && alive(project).length === 0);
  await project.ok('up');
  const c = await until(project, 'brought back', ({ task_id, state }) => task_id === 'C' && state === 'running');
  expect(c).toMatchObject({ respawns: 0 });
  await project.ok('down');
  expect(alive(project)).toEqual([]);
  await project.ok('up');
  expect((await list(project)).map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped']);
  expect(await project.crashes()).toEqual([]);
});

test('zombies of an agent are reported, and a report without trouble says so', async () => {
  await using project = new TestProject(CONFIG.replace('node, ./recorder.mjs', 'node, ./parent.mjs'));
  // A shell that has become sleep never asks how its child ended; until then it would.
  project.write(
    'parent.mjs',
    `import { spawn } from 'node:child_process';\nspawn('sh', ['-c', 'until grep -q sleep /proc/$$/comm; do :; done & exec sleep 1000'], { stdio: 'inherit' });\n`,
  );
  await project.ok('up');
  expect(await report(project)).toMatchObject({ code: 0, status: 'healthy', issues: [] });
  await project.ok('spawn', 'recorder', '--task', 'A');
  const found = await waitFor('the zombie', async () => {
    const said = await report(project);
    return said.issues.length > 0 ? said : null;
  });
  expect(found).toMatchObject({ code: 1, status: 'degraded', issues: [{ type: 'zombie_process' }] });
  const checked = await project.cli('-o', 'json', 'agents', 'check');
  expect(checked.code).toBe(1);
  expect(JSON.parse(checked.stdout)).toMatchObject({ issues: [{ type: 'zombie_process' }], fixed: [] });
});
