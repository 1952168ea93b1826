import { readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AgentsReportView, AgentsView } from '../../src/agents/rules/views.ts';
import type { TicketsView, TicketView } from '../../src/incidents/tickets/rules/view.ts';
import { OrchestratorHealthMonitor } from '../../src/index.ts';
import type { WhyView } from '../../src/supervision/rules/views.ts';
import { TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

const MINUTE_MS = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
/** No process has these: the kernel gives none so high unless it is told to. */
const NOBODY = 4_194_300;
const dead = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      NOBODY - i,
      { agent_type: 'architect', task_id: `SPEC-${i}`, started_at: ago(120 * MINUTE_MS) },
    ]),
  );

const tickets = async (project: TestProject): Promise<readonly TicketView[]> =>
  (JSON.parse(await project.ok('-o', 'json', 'tickets', 'list')) as TicketsView).tickets;

async function report(project: TestProject): Promise<AgentsReportView & { readonly code: number | null }> {
  const { code, stdout } = await project.cli('-o', 'json', 'agents', 'report');
  return { ...(JSON.parse(stdout) as AgentsReportView), code };
}

describe('the loop', () => {
  test('one whose state file is 89 minutes old gets a critical ticket and a restart, and people are alerted when that fails', async () => {
    await using project = new TestProject(`
components:
  work-loop:
    process: { command: [sleep, "1000"] }
    heartbeat: { file: state.json, field: last_update, freeze_after: 2s }
    restart: { backoff: { initial: 100ms } }
agents: { every: 500ms, loop: work-loop }
tickets: { trackers: [{ local: { dir: tickets } }] }
alerts: { on: [freeze], channels: [{ command: { command: [sh, -c, "cat >>alerts.log"] } }] }
`);
    project.write('state.json', JSON.stringify({ last_update: ago(89 * MINUTE_MS) }));
    await project.ok('up');
    const [ticket] = await waitFor('the ticket', async () => {
      const found = await tickets(project);
      return found.length > 0 ? found : null;
    });
    expect(ticket).toMatchObject({
      ...{ number: 'BUG-001', priority: 'critical', category: 'freeze', state: 'open' },
      title: 'work-loop is frozen: no sign of progress for 2 s',
      root_cause: expect.stringContaining('1 h 29 min ago'),
    });
    const first = await project.component('work-loop');
    // Each restart gives it time to show progress: it is critical again when that is over.
    const seen = await waitFor('the report', async () => {
      const now = await report(project);
      return now.status === 'critical' ? now : null;
    });
    expect(seen.code).toBe(6);
    expect(seen.metrics.orchestrator_last_poll).toBeGreaterThanOrEqual(89 * 60);
    expect(seen.issues).toMatchObject([{ type: 'orchestrator_frozen', bug_reported: true, bug_number: 1 }]);
    await project.until('work-loop', 'another run', ({ pid, restarts }) => restarts > 0 && pid !== first.pid);
    const alert = await waitFor('the alert', () => project.read('alerts.log'));
    expect(alert).toContain('work-loop is frozen, and starting it again did not help');
    expect(readdirSync(project.path('tickets')).filter((name) => name.startsWith('BUG-001'))).toHaveLength(1);
    // It goes on after all: in the run that is there then, or the next.
    await waitFor('it to go on', async () => {
      project.write('state.json', JSON.stringify({ last_update: ago(0) }));
      return (await report(project)).status !== 'critical';
    });
  });

  test('one that others run and nothing can restart gets the ticket and the alert', async () => {
    await using project = new TestProject(`
components:
  work-loop:
    external: { pid_file: loop.pid }
    heartbeat: { file: state.json, freeze_after: 2s }
agents: { every: 500ms, loop: work-loop }
alerts: { on: [freeze], channels: [{ command: { command: [sh, -c, "cat >>alerts.log"] } }] }
`);
    project.write('loop.pid', String(process.pid));
    project.write('state.json', '{}');
    await project.ok('up');
    await waitFor('the alert', () => project.read('alerts.log').includes('there is no restart.command'));
    expect(await tickets(project)).toMatchObject([{ priority: 'critical', category: 'freeze' }]);
  });
});

describe('agents of others', () => {
  const CONFIG = `
components: { other: { process: { command: [sleep, "1000"] } } }
agents: { every: 500ms, state_file: agent_state.json }
tickets: { trackers: [{ local: { dir: tickets } }] }
`;
  test('fifteen dead entries are cleaned away, with one ticket of low priority', async () => {
    await using project = new TestProject(CONFIG);
    const alive = { [process.pid]: { agent_type: 'coder', task_id: 'T', started_at: ago(0) } };
    project.write('agent_state.json', JSON.stringify({ active_agents: { ...dead(15), ...alive }, version: 3 }), 0o640);
    await project.ok('up');
    await waitFor('them to be gone', () => !project.read('agent_state.json').includes('SPEC-'));
    expect(JSON.parse(project.read('agent_state.json'))).toEqual({ active_agents: alive, version: 3 });
    const found = await waitFor('the ticket', async () => {
      const all = await tickets(project);
      return all.length > 0 ? all : null;
    });
    expect(found).toMatchObject([
      { number: 'BUG-001', priority: 'low', category: 'cleanup', title: '15 dead agent entries in agent_state.json' },
    ]);
    expect(found[0]!.error_logs).toContain('SPEC-14');
    expect(await project.crashes()).toEqual([]);
    // More of them later is the same problem.
    project.write('agent_state.json', JSON.stringify({ active_agents: { ...dead(20), ...alive } }), 0o640);
    await waitFor('the new ones to be gone', () => !project.read('agent_state.json').includes('SPEC-19'));
    expect(await tickets(project)).toHaveLength(1);
  });
});

test('the error of an agent that a loop of ours started is found in the log of the loop, and its pid in the report', async () => {
  await using project = new TestProject(`
components: { work-loop: { process: { command: [node, loop.mjs] }, heartbeat: { log_every: 30s } } }
agents: { every: 3s, state_file: agent_state.json, loop: work-loop }
`);
  // The agent stays until it was seen alive, then dies as a program does whose import has gone.
  project.write(
    'loop.mjs',
    `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const script = 'until test -e end; do sleep 0.05; done; cat trace >&2; exit 1';
const { pid } = spawn('sh', ['-c', script], { stdio: 'inherit' });
const entry = { agent_type: 'architect', task_id: 'SPEC-1', started_at: new Date().toISOString() };
writeFileSync('agent_state.json', JSON.stringify({ active_agents: { [pid]: entry } }));
setInterval(() => console.log('polling'), 20);
`,
  );
  project.write(
    'trace',
    `Traceback (most recent call last):
  File "architect.py", line 3, in <module>
    from skills import SkillNames
ImportError: cannot import name 'SkillNames' from 'skills'
`,
  );
  await project.ok('up');
  const agents = async () => (JSON.parse(await project.ok('-o', 'json', 'agents')) as AgentsView).agents;
  const [agent] = await waitFor('it to be seen', async () => {
    const found = await agents();
    return found[0]?.state === 'running' ? found : null;
  });
  project.write('end', '');
  await waitFor('its crash', async () => (await project.crashes()).length > 0);
  expect((await project.crashes())[0]).toMatchObject({
    ...{ error_type: 'ImportError', agent_pid: agent!.pid, task_id: 'SPEC-1' },
  });
  expect((await report(project)).issues).toMatchObject([
    { type: 'agent_crash', agent_pid: agent!.pid, error: expect.stringContaining('ImportError: cannot import name') },
  ]);
});

describe('simulate-crash', () => {
  const CONFIG = `
components:
  api:
    process: { command: [sleep, "1000"] }
    restart: { backoff: { initial: 100ms } }
agents:
  every: 500ms
  types: { architect: { command: [sh, -c, "touch real", sh, "{task}"], backoff: { initial: 100ms, max: 100ms } } }
tickets: { trackers: [{ local: { dir: tickets } }, { command: { command: [sh, -c, "cat >>outside"] } }] }
`;
  test('an agent dies as it was asked to, is respawned, gets a ticket, and the real one never runs', async () => {
    await using project = new TestProject(CONFIG);
    await project.ok('up');
    expect(await project.ok('simulate-crash', '--agent', 'architect', '--dry-run')).toContain('would: ');
    await project.ok('simulate-crash', '--agent', 'architect');
    await waitFor('four crashes', async () => (await project.crashes()).length === 4);
    const [crash] = await project.crashes();
    expect(crash).toMatchObject({
      ...{ error_type: 'ImportError', agent_type: 'architect', decision: 'gave up: its 3 respawns are used up' },
      root_cause: expect.stringMatching(/^simulated with .*no export 'SkillNames'/),
    });
    expect(await tickets(project)).toMatchObject([{ number: 'BUG-001', count: expect.any(Number) }]);
    expect(project.read('outside')).toBe('');
    expect(project.read('real')).toBe('');
    expect(readdirSync(project.dir)).not.toContain('real');
  });

  test('a component is hit by a real signal, or replaced once by something that ends', async () => {
    await using project = new TestProject(CONFIG);
    await project.ok('up');
    const before = await project.component('api');
    await project.ok('simulate-crash', '--component', 'api', '--kind', 'signal');
    await project.until('api', 'back', ({ state, pid }) => state === 'running' && pid !== before.pid);
    const why = async () => JSON.parse(await project.ok('-o', 'json', 'why', 'api')) as WhyView;
    expect(await why()).toMatchObject({
      exit: { signal: 'SIGSEGV' },
      root_cause: expect.stringContaining('simulated'),
    });
    await project.ok('simulate-crash', '--component', 'api', '--kind', 'exit');
    await waitFor('the second crash', async () => (await project.crashes()).length === 2);
    expect(await why()).toMatchObject({ exit: { code: 1 }, root_cause: expect.stringContaining('simulated') });
    await project.until('api', 'itself again', ({ state, restarts }) => state === 'running' && restarts > 0);
    expect((await project.component('api')).restarts).toBe(1);
  });

  test('what cannot be done is refused, and says what to do', async () => {
    await using project = new TestProject(CONFIG);
    await project.ok('up');
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await project.cli('simulate-crash', ...args);
      return `${code} ${stderr}`;
    };
    expect(await refusal('--component', 'api', '--kind', 'hang')).toMatch(/^1 .*nothing would notice/);
    expect(await refusal('--agent', 'architect', '--kind', 'signal')).toMatch(/^1 .*no such agent of ours is running/);
    expect(await refusal('--agent', 'architekt')).toMatch(/^2 .*architect/);
    expect(await refusal('--component', 'apo')).toMatch(/^4 .*api/);
    expect(await refusal()).toMatch(/^2 .*either --component NAME or --agent TYPE/);
    expect(await refusal('--component', 'api', '--agent', 'architect')).toMatch(/^2 /);
  });
});

describe('OrchestratorHealthMonitor', () => {
  const CONFIG = { agents: { every: '200ms', state_file: 'agent_state.json' } };

  test('cleans and reports in the program that calls it, without a daemon', async () => {
    using dir = tempDir();
    writeFileSync(dir.at('agent_state.json'), JSON.stringify({ active_agents: dead(3) }));
    const errors: Error[] = [];
    await using monitor = new OrchestratorHealthMonitor(CONFIG, {
      cwd: dir.path,
      onError: (error) => errors.push(error),
    });
    expect(await monitor.reportBugsIfAny()).toEqual([]);
    const bugs = await waitFor('the ticket', async () => {
      await monitor.autoFixIssues();
      const found = await monitor.reportBugsIfAny();
      return found.length > 0 ? found : null;
    });
    expect(bugs).toMatchObject([{ number: 'BUG-001', priority: 'low' }]);
    expect(await monitor.reportBugsIfAny()).toEqual([]);
    expect(await monitor.checkHealth()).toMatchObject({ metrics: { active_agents: 0 } });
    expect(errors).toEqual([]);
  });

  test('sees a frozen loop without a daemon, files its ticket, and sees that it goes on', async () => {
    using dir = tempDir();
    const beat = (at: string) => writeFileSync(dir.at('loop.json'), JSON.stringify({ last_update: at }));
    beat(ago(90 * MINUTE_MS));
    await using monitor = new OrchestratorHealthMonitor(
      {
        components: {
          'work-loop': {
            external: { address: 'localhost:9' },
            heartbeat: { file: 'loop.json', field: 'last_update', freeze_after: '1m' },
          },
        },
        agents: { every: '200ms', loop: 'work-loop' },
      },
      { cwd: dir.path },
    );
    const frozen = await monitor.checkHealth();
    expect(frozen).toMatchObject({ status: 'critical', issues: [{ type: 'orchestrator_frozen', bug_number: 1 }] });
    expect(frozen.metrics.orchestrator_last_poll).toBeGreaterThanOrEqual(90 * 60);
    expect(await monitor.reportBugsIfAny()).toMatchObject([{ number: 'BUG-001', priority: 'critical' }]);
    expect(await monitor.reportBugsIfAny()).toEqual([]);
    beat(ago(0));
    await waitFor('it to be well', async () => (await monitor.checkHealth()).status === 'healthy');
  });

  test('returns what was fixed once, and neither what was done before nor what could not be', async () => {
    await using project = new TestProject(`
agents:
  every: 200ms
  state_file: agent_state.json
  max_respawns: 1
  types: { architect: { command: [sh, -c, "exit 3", sh, "{task}"], backoff: { initial: 100ms } } }
`);
    expect(await project.ok('up', '--no-wait')).toContain('no components, but the daemon is up');
    const gaveUp = async (task: string) => {
      await project.ok('spawn', 'architect', '--task', task);
      const isOver = async () => (await project.crashes()).filter(({ task_id }) => task_id === task).length === 2;
      await waitFor('it to be given up', isOver);
    };
    await gaveUp('BEFORE');
    await using monitor = new OrchestratorHealthMonitor(project.path('keepwell.yaml'));
    expect(await monitor.autoFixIssues()).toEqual([]);
    await gaveUp('SINCE');
    expect(await monitor.autoFixIssues()).toMatchObject([{ task_id: 'SINCE', action_taken: 'respawned' }]);
    expect((await monitor.checkHealth()).issues).toHaveLength(4);
    expect(await monitor.autoFixIssues()).toEqual([]);
    project.write('agent_state.json', JSON.stringify({ active_agents: dead(2) }));
    const fixed = await waitFor('them to be removed', async () => {
      const issues = await monitor.autoFixIssues();
      return issues.length > 0 ? issues : null;
    });
    expect(fixed).toMatchObject([{ type: 'dead_entries', action_taken: 'cleaned' }]);
    expect(await monitor.autoFixIssues()).toEqual([]);
  });

  test('asks the daemon where there is one, and leaves it running', async () => {
    await using project = new TestProject(`
components: { other: { process: { command: [sleep, "1000"] } } }
agents: { every: 200ms, state_file: agent_state.json }
`);
    await project.ok('up');
    {
      await using monitor = new OrchestratorHealthMonitor(project.path('keepwell.yaml'));
      expect(await monitor.checkHealth()).toMatchObject({ status: 'healthy', issues: [] });
    }
    expect((await project.component('other')).state).toBe('running');
  });

  test('never throws, whatever is wrong', async () => {
    using dir = tempDir();
    const errors: Error[] = [];
    await using monitor = new OrchestratorHealthMonitor({ agents: { every: 'often' } } as never, {
      cwd: dir.path,
      onError: (error) => {
        errors.push(error);
        throw error;
      },
    });
    expect(await monitor.checkHealth()).toMatchObject({ status: 'degraded', issues: [{ type: 'monitor_failed' }] });
    expect(await monitor.autoFixIssues()).toEqual([]);
    expect(await monitor.reportBugsIfAny()).toEqual([]);
    expect(errors).toHaveLength(3);
    await monitor.close();
    expect(await monitor.checkHealth()).toMatchObject({ issues: [{ error: expect.stringContaining('closed') }] });
  });
});
