import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentsReportView, AgentsView } from '../../src/agents/rules/views.ts';
import type { TicketsView, TicketView } from '../../src/incidents/tickets/rules/view.ts';
import type { WhyView } from '../../src/supervision/rules/views.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const EXAMPLE = resolve('examples/agent-orchestrator');
/** Of somebody who has tried it there. */
const LEFT_BEHIND: ReadonlySet<string> = new Set(['.keepwell', 'data', 'tickets', 'alerts.log']);
/** The same in less time. */
const SOONER = `
agents:
  every: 1s
  types: { architect: { backoff: { initial: 100ms, factor: 1 } } }
`;
/** Only for a loop that is stuck anyway: it polls every two seconds, and on a busy machine it may be late. */
const FREEZE_SOONER = `
components:
  work-loop: { heartbeat: { freeze_after: 3s }, restart: { backoff: { initial: 100ms } } }
`;

/** The example as it ships, in a folder of its own. */
function example(sooner: string): TestProject {
  const project = new TestProject('');
  cpSync(EXAMPLE, project.dir, { recursive: true, filter: (from) => !LEFT_BEHIND.has(basename(from)) });
  project.write('sooner.yaml', sooner);
  return project;
}

const up = (project: TestProject) => project.ok('-f', 'keepwell.yaml', '-f', 'sooner.yaml', 'up');

function run(project: TestProject, ...args: readonly string[]): void {
  expect(spawnSync(process.execPath, args, { cwd: project.dir, encoding: 'utf8' })).toMatchObject({ status: 0 });
}

async function agents(project: TestProject): Promise<readonly string[]> {
  const { agents: all } = JSON.parse(await project.ok('agents', 'list', '--all', '-o', 'json')) as AgentsView;
  return all.map(({ task_id: task, source, state }) => `${task} ${source} ${state}`);
}

async function report(project: TestProject): Promise<AgentsReportView & { readonly code: number | null }> {
  const { code, stdout } = await project.cli('agents', 'report', '-o', 'json');
  return { ...(JSON.parse(stdout) as AgentsReportView), code };
}

async function tickets(project: TestProject, category: TicketView['category']): Promise<readonly TicketView[]> {
  const { tickets: all } = JSON.parse(await project.ok('tickets', 'list', '-o', 'json')) as TicketsView;
  return all.filter((ticket) => ticket.category === category);
}

const entries = (project: TestProject): readonly string[] => {
  const { active_agents: all } = JSON.parse(project.read('data/agent_state.json')) as {
    active_agents: Readonly<Record<string, { task_id: string }>>;
  };
  return Object.values(all).map(({ task_id: task }) => task);
};

const alerts = (project: TestProject) =>
  project
    .read('alerts.log')
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => (JSON.parse(line) as { alerts: readonly { state: string; text: string }[] }).alerts);

describe.concurrent('the example of an orchestrator of agents', () => {
  test('an agent that hangs is noticed, ended and respawned, and what it was doing is known', async () => {
    await using project = example(
      `agents: { types: { reviewer: { heartbeat: { log_every: 2s, freeze_after: 2s } } } }`,
    );
    await up(project);
    await project.ok('spawn', 'reviewer', '--task', 'PR-7');
    await waitFor('its respawn', async () => {
      const { agents: all } = JSON.parse(await project.ok('agents', 'list', '-o', 'json')) as AgentsView;
      return all.some(({ agent_type: type, respawns }) => type === 'reviewer' && respawns > 0);
    });
    const why = JSON.parse(await project.ok('why', 'reviewer', '-o', 'json')) as WhyView;
    expect(why.exit.unhealthy).toBe('frozen: no heartbeat for 4 s');
    expect(why.log_tail).toContain('step 3 of PR-7');
    expect(why.freeze?.evidence.join('\n')).toContain('command: sleep 3600');
  });

  test('an agent with an ImportError has BUG-001, forgotten entries another ticket, and agents of the loop are looked after', async () => {
    await using project = example(SOONER);
    await up(project);
    await project.ok('spawn', 'architect', '--task', 'SPEC-111');

    const inList = (what: string) => waitFor(what, async () => (await agents(project)).includes(what));
    await inList('TASK-7 state-file running');
    expect((await project.cli('spawn', 'coder', '--task', 'TASK-7')).stderr).toContain('started by somebody else');
    expect((await project.cli('agents', 'stop', 'TASK-7')).stderr).toContain('started by another program');
    const [pid] = Object.keys(
      (JSON.parse(project.read('data/agent_state.json')) as { active_agents: object }).active_agents,
    );
    kill(Number(pid));
    await inList('TASK-7 keepwell running');
    await waitFor('its entry to go', () => entries(project).length === 0);

    await inList('SPEC-111 keepwell gave-up');
    const [bug, ...more] = await tickets(project, 'crash');
    expect(more).toEqual([]);
    expect(bug).toMatchObject({
      ...{ number: 'BUG-001', priority: 'high', assigned_to: 'code_developer', count: 4 },
      title: expect.stringContaining("ImportError: cannot import name 'SkillNames'"),
      root_cause: expect.stringContaining("has no export 'SkillNames'"),
      related_files: ['/app/agents/skills/__init__.py', '/app/agents/architect.py'],
      error_logs: expect.stringContaining('Traceback (most recent call last):'),
    });
    expect(bug!.reproduction_steps[0]).toBe('keepwell spawn architect --task SPEC-111');
    const crashes = await project.crashes();
    expect(crashes.filter(({ agent_type: type }) => type === 'architect')).toHaveLength(4);
    expect(crashes.find(({ agent_type: type }) => type === 'coder')).toMatchObject({
      ...{ task_id: 'TASK-7', decision: 'respawned as an agent of ours' },
      exit: { unknown: expect.stringContaining('is gone') },
    });
    expect(await report(project)).toMatchObject({ status: 'degraded', code: 1 });

    run(project, 'forget.mjs', '15');
    const [cleaned, ...others] = await waitFor('the ticket about them', async () => {
      const found = await tickets(project, 'cleanup');
      return found.length > 0 ? found : null;
    });
    expect(others).toEqual([]);
    expect(cleaned).toMatchObject({ priority: 'low', title: '15 dead agent entries in agent_state.json' });
    expect(entries(project)).toEqual([]);

    // What ends with a loop that is stopped has not crashed, and nobody brings it back.
    await project.ok('restart', 'work-loop');
    await inList('TASK-8 state-file running');
    await project.ok('stop', 'work-loop');
    await waitFor('its entry to go', () => entries(project).length === 0);
    expect((await project.crashes()).map(({ task_id: task }) => task)).not.toContain('TASK-8');
    expect((await agents(project)).filter((agent) => agent.endsWith('running'))).toEqual(['TASK-7 keepwell running']);
    expect(readdirSync(project.path('tickets')).filter((name) => name.startsWith('BUG-'))).toHaveLength(2);
  });

  test('a loop whose last poll was 89 minutes ago has one critical ticket, is restarted, and people are told when that does not help', async () => {
    await using project = example(SOONER + FREEZE_SOONER);
    run(project, 'get-stuck.mjs', '89');
    await up(project);
    const first = await project.component('work-loop');
    const raised = await waitFor('the alert', () => alerts(project)[0]);
    expect(raised).toMatchObject({
      state: 'raised',
      text: 'work-loop is frozen, and starting it again did not help: it is frozen again',
    });
    expect(await report(project)).toMatchObject({
      ...{ status: 'critical', code: 6 },
      issues: [{ type: 'orchestrator_frozen', action_taken: 'alerted', bug_number: 1 }],
    });
    expect(await tickets(project, 'freeze')).toMatchObject([
      { number: 'BUG-001', priority: 'critical', root_cause: expect.stringContaining('1 h 29 min ago') },
    ]);
    expect((await project.component('work-loop')).run_id).not.toBe(first.run_id);
    const ends = await project.crashes();
    expect(ends.map(({ incident, ticket }) => [incident, ticket])).toEqual(ends.map(() => [1, 'BUG-001']));
    // What was seen when it was ended is in the ticket, too: whoever gets that cannot ask "why".
    const why = JSON.parse(await project.ok('-o', 'json', 'why', String(ends.at(-1)!.id))) as WhyView;
    const [freeze] = await tickets(project, 'freeze');
    expect(why.freeze!.evidence).not.toEqual([]);
    for (const line of why.freeze!.evidence) expect(freeze!.error_logs).toContain(line.trim());
    expect(alerts(project)).toHaveLength(1);

    rmSync(project.path('data/lock'));
    const over = await waitFor('the end of the alert', () => alerts(project).find(({ state }) => state === 'over'));
    expect(over.text).toBe(`work-loop (was: ${raised.text})`);
    await waitFor('all to be well', async () => (await report(project)).status === 'healthy');
  });
});

test('its page names every script that is there, and no other', () => {
  const page = readFileSync(`${EXAMPLE}/README.md`, 'utf8');
  const scripts = readdirSync(EXAMPLE).filter((name) => name.endsWith('.mjs'));
  expect([...new Set(page.match(/[\w-]+\.mjs/g))].sort()).toEqual(scripts.sort());
});
