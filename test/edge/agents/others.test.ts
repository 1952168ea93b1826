import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { observeProcess } from '../../../src/agents/open.ts';
import { Others } from '../../../src/agents/others.ts';
import { type LoopLogs, othersCases } from '../../../src/agents/others-cases.ts';
import type { AgentRequest } from '../../../src/agents/ports.ts';
import {
  NOTHING_KNOWN,
  type ProcessObservation,
  type RunFate,
  storedText,
} from '../../../src/agents/rules/others-pass.ts';
import { type AgentsSpec, NO_AGENTS } from '../../../src/agents/spec.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { openMemoryStore } from '../../../src/history/memory.ts';
import type { Incidents } from '../../../src/incidents/ports.ts';
import type { ProblemEvidence } from '../../../src/incidents/tickets/rules/evidence.ts';
import { tailOf } from '../../../src/logs/rules/tail.ts';
import type { NewCrash } from '../../../src/supervision/ports/store.ts';
import { loopThatNeverWaits } from '../../support/loop-without-wait.ts';
import { needsPidControl, strangerUnder } from '../../support/pid-reuse.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Short, so that a dead entry is due at the second look or soon after. */
const EVERY_MS = 50;
const HOUR_MS = 3_600_000;
/** No process has it: the kernel gives none so high unless it is told to. */
const NOBODY = 4_194_300;

type Agent = { readonly agent_type?: string; readonly task_id?: string; readonly started_at?: string };
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();

function world(store = openMemoryStore({ clock: systemClock })) {
  const dir = tempDir();
  const path = dir.at('agent_state.json');
  const problems: ProblemEvidence[] = [];
  const crashes: NewCrash[] = [];
  const asked: AgentRequest[] = [];
  const recovered: string[] = [];
  const incidentService: Pick<Incidents, 'problem' | 'recovered'> = {
    problem: (problem) => ({ incident: 1, ticket: problems.push(problem) }),
    recovered: ({ name }, task) => void recovered.push(`${name} ${task ?? ''}`.trim()),
  };
  const spec: AgentsSpec = {
    ...NO_AGENTS,
    everyMs: EVERY_MS,
    maxRespawns: 3,
    stateFile: {
      path,
      fields: { agents: 'active_agents', agentType: 'agent_type', taskId: 'task_id', startedAt: 'started_at' },
    },
  };
  let observation: (pid: number) => ProcessObservation = observeProcess;
  let fate: (run: string) => RunFate = () => 'other';
  let strange: string | null = null;
  let log = '';
  const open = () => {
    const respawns = {
      respawn: (request: AgentRequest) => {
        asked.push(request);
        return request.type === 'architect'
          ? ({ kind: 'respawned' } as const)
          : ({ kind: 'none', why: 'no type' } as const);
      },
    };
    const cases = othersCases({
      record: (...commits) => {
        crashes.push(...commits.flatMap(({ crash }) => crash ?? []));
        store.commit(...commits);
        return commits;
      },
      ...{
        clock: systemClock,
        incidentService,
        respawns,
        spec: () => spec,
        cwdOf: () => dir.path,
      },
    });
    const logs: LoopLogs = {
      writerOf: () => 'work-loop',
      end: () => log.length,
      since: (_, position) => tailOf(log.slice(position), [], { isCut: false }),
    };
    const others = new Others({
      ...{ clock: systemClock, log: silentLog, store, cases, logs },
      observe: (pid) => observation(pid),
      fate: (run) => fate(run),
      strange: () => strange,
    });
    others.use(spec);
    return others;
  };
  const write = (agents: Readonly<Record<string, Agent>>, more = {}) =>
    writeFileSync(path, JSON.stringify({ active_agents: agents, ...more }, null, 2));
  return {
    ...{ dir, path, problems, crashes, asked, recovered, open, write, store },
    text: () => readFileSync(path, 'utf8'),
    agents: () => Object.keys((JSON.parse(readFileSync(path, 'utf8')) as { active_agents: object }).active_agents),
    see: (eye: (pid: number) => ProcessObservation) => {
      observation = eye;
    },
    decide: (judge: typeof fate) => {
      fate = judge;
    },
    beStrange: (why: string) => {
      strange = why;
    },
    say: (text: string) => {
      log += text;
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

const runOf = (pid: number): string | null => {
  const observation = observeProcess(pid);
  return observation.kind === 'there' ? observation.run : null;
};

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await waitFor('the agent to be gone', () => observeProcess(child.pid!).kind === 'gone');
}

describe('the agents of others', () => {
  test('fifteen dead entries are removed, with one ticket of low priority that names them', async () => {
    using here = world();
    const old = { agent_type: 'architect', started_at: ago(2 * HOUR_MS) };
    const dead = Object.fromEntries(
      Array.from({ length: 15 }, (_, i) => [NOBODY - i, { ...old, task_id: `SPEC-${i}` }]),
    );
    here.write(
      { ...dead, [process.pid]: { agent_type: 'coder', task_id: 'X', started_at: ago(0) } },
      { loop: { polls: 7 } },
    );
    const others = here.open();
    expect(await others.look()).toMatchObject({ issues: [], actions: [] });
    const found = await waitFor('them to be removed', async () => {
      const findings = await others.look();
      return findings.actions.length > 0 ? findings : null;
    });
    expect(found).toMatchObject({
      actions: ['removed 15 dead entries from agent_state.json'],
      bugs: [1],
      issues: [{ type: 'dead_entries', action_taken: 'cleaned', bug_reported: true, bug_number: 1 }],
      agents: [{ agent_type: 'coder', state: 'running', pid: process.pid }],
    });
    expect(here.agents()).toEqual([String(process.pid)]);
    expect(JSON.parse(here.text())).toMatchObject({ loop: { polls: 7 } });
    expect(here.problems).toHaveLength(1);
    expect(here.problems[0]).toMatchObject({
      category: 'cleanup',
      priority: 'low',
      title: '15 dead agent entries in agent_state.json',
    });
    expect(here.problems[0]!.evidence.join('\n')).toContain(`${NOBODY - 14} (architect, SPEC-14)`);
    expect(here.crashes).toEqual([]);
    expect(here.asked).toEqual([]);
    await others.close();
  });

  test('one that dies while it is watched has crashed, with an unknown exit, and is brought back by its type', async () => {
    using here = world();
    const child = spawn('sleep', ['300']);
    here.write({ [child.pid!]: { agent_type: 'architect', task_id: 'SPEC-1', started_at: ago(0) } });
    const others = here.open();
    expect((await others.look()).agents).toMatchObject([{ state: 'running', task_id: 'SPEC-1', source: 'state-file' }]);
    await ended(child);
    const found = await waitFor('its crash', async () => {
      const findings = await others.look();
      return here.crashes.length > 0 ? findings : null;
    });
    expect(here.crashes).toMatchObject([
      {
        ...{ subject: { kind: 'agent', name: 'architect' }, agentType: 'architect', taskId: 'SPEC-1', pid: child.pid },
        exit: { code: null, signal: null, unknown: expect.stringContaining('is gone') },
      },
    ]);
    expect(here.asked).toEqual([{ type: 'architect', task: 'SPEC-1' }]);
    expect(found.issues).toMatchObject([{ type: 'agent_crash', action_taken: 'respawned' }]);
    expect(here.agents()).toEqual([]);
    expect(here.problems).toEqual([]);
    await others.look();
    expect(here.crashes).toHaveLength(1);
    await others.close();
  });

  test('without a type of that name it is not brought back, and the crash says so', async () => {
    using here = world();
    const child = spawn('sleep', ['300']);
    here.write({ [child.pid!]: { agent_type: 'poet', task_id: 'T', started_at: ago(0) } });
    const others = here.open();
    await others.look();
    await ended(child);
    await waitFor('its crash', async () => (await others.look()) && here.crashes.length > 0);
    expect(here.crashes[0]).toMatchObject({ decision: 'not respawned: no type', rule: 'observed' });
    await others.close();
  });

  test('one that ends because the loop it belongs to was stopped is no crash: its entry goes, and nobody brings it back', async () => {
    using here = world();
    const child = spawn('sleep', ['300'], { env: { ...process.env, KEEPWELL_RUN: 'loop~1' } });
    here.write({ [child.pid!]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
    const others = here.open();
    // Until the child has become sleep, its environment is that of this process.
    await waitFor('it to have begun', () => runOf(child.pid!) === 'loop~1');
    await others.look();
    let isOver = false;
    here.decide((run) => (run !== 'loop~1' ? 'other' : isOver ? 'asked' : 'ending'));
    await ended(child);
    for (let looks = 0; looks < 3; looks++) await others.look();
    expect(here.agents()).toEqual([String(child.pid)]);
    isOver = true;
    await waitFor('its entry to go', async () => (await others.look()) && here.agents().length === 0);
    expect([here.crashes, here.asked, here.problems]).toEqual([[], [], []]);
    expect(here.store.events({ afterSeq: 0, limit: 10 })).toMatchObject([
      { type: 'agent.stopped', subject: { kind: 'agent', name: 'architect' }, data: { pid: child.pid, task: 'T' } },
    ]);
    await others.close();
  });

  test('one that its owner removes has finished, whatever became of its process', async () => {
    using here = world();
    const child = spawn('sleep', ['300']);
    here.write({ [child.pid!]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
    const others = here.open();
    await others.look();
    await ended(child);
    here.write({});
    for (let looks = 0; looks < 3; looks++) await others.look();
    expect(here.crashes).toEqual([]);
    await others.close();
  });

  test('the next daemon records the crash of one that the last had seen', async () => {
    using here = world();
    const child = spawn('sleep', ['300']);
    here.write({ [child.pid!]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
    const first = here.open();
    await first.look();
    await first.close();
    await ended(child);
    const second = here.open();
    await waitFor('its crash', async () => (await second.look()) && here.crashes.length > 0);
    expect(here.asked).toHaveLength(1);
    await second.close();
  });

  test('a daemon that died between cleaning and filing is finished by the next', async () => {
    using here = world();
    here.write({});
    const cleaning = [{ key: '5', text: '5 (architect, SPEC-5)' }];
    here.store.setMeta('agents.others', storedText(here.path, { memory: NOTHING_KNOWN, cleaning }));
    const others = here.open();
    await others.look();
    expect(here.problems).toMatchObject([{ title: '1 dead agent entry in agent_state.json' }]);
    expect(here.problems[0]!.evidence).toContain('5 (architect, SPEC-5)');
    await others.look();
    await others.close();
    const next = here.open();
    await next.look();
    expect(here.problems).toHaveLength(1);
    await next.close();
  });

  test.each([
    ['half written', '{"active_agents": {"12'],
    ['empty', ''],
    ['of another kind', '{"active_agents": [1]}'],
  ])('a file that is %s is left as it is, and said to be so', async (_, text) => {
    using here = world();
    writeFileSync(here.path, text);
    const others = here.open();
    for (let looks = 0; looks < 3; looks++)
      expect((await others.look()).issues).toMatchObject([
        { type: 'state_file', error: expect.stringContaining('nothing is done') },
      ]);
    expect(here.text()).toBe(text);
    await others.close();
  });

  test.each(['we may not look', 'it runs in a container'])(
    'where nobody can tell (%s), nothing is done',
    async (why) => {
      using here = world();
      here.write({ [NOBODY]: { agent_type: 'architect', task_id: 'T', started_at: ago(HOUR_MS) } });
      if (why.startsWith('we')) here.see(() => ({ kind: 'unknown', why }));
      else here.beStrange(why);
      const others = here.open();
      for (let looks = 0; looks < 3; looks++)
        expect(await others.look()).toMatchObject({
          agents: [{ state: 'unknown', note: why }],
          issues: [{ error: why, action_taken: 'none' }],
        });
      expect(here.agents()).toEqual([String(NOBODY)]);
      await others.close();
    },
  );

  test('a file that is not there yet is no problem', async () => {
    using here = world();
    const others = here.open();
    expect(await others.look()).toEqual({ agents: [], zombies: 0, issues: [], actions: [], bugs: [] });
    await others.close();
  });

  test('entries that somebody writes again are not fought over', async () => {
    using here = world();
    const entry = { [NOBODY]: { agent_type: 'a', task_id: 'T', started_at: '2026-01-01T00:00:00Z' } };
    here.write(entry);
    const others = here.open();
    await waitFor('it to be removed', async () => (await others.look()) && here.agents().length === 0);
    here.write(entry);
    const found = await waitFor('that to be noticed', async () => {
      const { issues } = await others.look();
      return issues.length > 0 ? issues : null;
    });
    expect(found).toMatchObject([
      { type: 'dead_entries', action_taken: 'none', error: expect.stringContaining('wrote entries again') },
    ]);
    expect(here.agents()).toHaveLength(1);
    expect(here.problems).toHaveLength(1);
    await others.close();
  });

  test('a stranger under the number of an agent is not the agent', async ({ skip }) => {
    needsPidControl(skip);
    using here = world();
    const child = spawn('sleep', ['300']);
    const pid = child.pid!;
    const others = here.open();
    here.write({ [pid]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
    await others.look();
    await ended(child);
    await using stranger = await strangerUnder(pid);
    if (stranger === null) skip('somebody else has got the pid');
    await waitFor('its crash', async () => (await others.look()) && here.crashes.length > 0);
    expect(here.crashes[0]!.exit.unknown).toContain('belongs to another process now');
    expect(stranger!.isAlive).toBe(true);
    await others.close();
  });

  test('one that ended without its parent taking note is counted as a zombie', async () => {
    using here = world();
    const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300'], { stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      const pid = Number(await new Promise((done) => parent.stdout.once('data', (text) => done(String(text)))));
      here.write({ [pid]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
      const others = here.open();
      await others.look();
      process.kill(pid, 'SIGKILL');
      const found = await waitFor('the zombie', async () => {
        const findings = await others.look();
        return findings.zombies > 0 ? findings : null;
      });
      expect(found.issues.map(({ type }) => type)).toContain('zombie_process');
      await others.close();
    } finally {
      await ended(parent);
    }
  });

  test('one whose parent is gone is an orphan', async () => {
    using here = world();
    const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; wait'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const pid = Number(await new Promise((done) => parent.stdout.once('data', (text) => done(String(text)))));
    try {
      here.write({ [pid]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
      const others = here.open();
      await others.look();
      await ended(parent);
      const found = await others.look();
      expect(found.issues).toMatchObject([{ type: 'orphan_process', agent_pid: pid, action_taken: 'none' }]);
      expect(found.agents).toMatchObject([{ state: 'running' }]);
      expect(here.recovered).toEqual(['architect T']);
      await others.close();
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  test('one that finished is finished, also when its loop never waits for its children: nobody does its task again', async () => {
    using here = world();
    await using loop = await loopThatNeverWaits({ codes: [0, 3] });
    const [good, bad] = loop.agents;
    here.write({
      [good!]: { agent_type: 'architect', task_id: 'GOOD', started_at: ago(0) },
      [bad!]: { agent_type: 'architect', task_id: 'BAD', started_at: ago(0) },
    });
    const others = here.open();
    expect((await others.look()).agents).toHaveLength(2);
    await loop.letThemEnd();
    await waitFor('both entries to go', async () => (await others.look()) && here.agents().length === 0);
    expect(here.asked).toEqual([{ type: 'architect', task: 'BAD' }]);
    expect(here.crashes).toMatchObject([{ taskId: 'BAD', pid: bad, exit: { code: 3, unknown: null } }]);
    expect(here.recovered).toContain('architect GOOD');
    expect(here.problems).toMatchObject([{ priority: 'low', title: '1 dead agent entry in agent_state.json' }]);
    expect(here.problems[0]!.evidence).toContain(`${good} (architect, GOOD), finished with exit code 0, a zombie`);
    const events = here.store.events({ afterSeq: 0, limit: 10 }).map(({ type, data }) => [type, data['task']]);
    expect(events).toContainEqual(['agent.finished', 'GOOD']);
    // As long as they are there, they are told of, whatever became of their entries; by the next daemon as well.
    const next = here.open();
    for (const each of [others, next]) {
      const found = await each.look();
      expect(found.zombies).toBe(2);
      expect(found.issues.map(({ type, agent_pid }) => `${type} ${agent_pid}`).sort()).toEqual(
        [`zombie_process ${good}`, `zombie_process ${bad}`].sort(),
      );
    }
    await loop.end();
    await waitFor('nobody to be left', async () => (await others.look()).zombies === 0);
    await Promise.all([others.close(), next.close()]);
  });

  test('what an agent said last is found in the log of its loop, among the lines of others', async () => {
    using here = world();
    const child = spawn('sleep', ['300']);
    here.write({ [child.pid!]: { agent_type: 'architect', task_id: 'T', started_at: ago(0) } });
    const others = here.open();
    here.say('ValueError: of somebody who died long ago\n');
    await others.look();
    await ended(child);
    here.say(`polling\n${TRACEBACK}polling\nnothing to do\n`);
    await waitFor('its crash', async () => (await others.look()) && here.crashes.length > 0);
    expect(here.crashes[0]).toMatchObject({
      errorType: 'ImportError',
      errorMessage: "cannot import name 'SkillNames' from 'skills'",
      relatedFiles: ['architect.py'],
    });
    expect(here.crashes[0]!.logTail.slice(0, 2)).toEqual(['in the log of work-loop, when it died:', 'polling']);
    await others.close();
  });

  test('where several died at once and the log has several errors, nobody can say whose they are', async () => {
    using here = world();
    const children = [spawn('sleep', ['300']), spawn('sleep', ['300'])];
    const entryOf = ({ pid }: ChildProcess, i: number) =>
      [pid, { agent_type: 'coder', task_id: `T${i}`, started_at: ago(0) }] as const;
    here.write(Object.fromEntries(children.map(entryOf)));
    const others = here.open();
    await others.look();
    await Promise.all(children.map(ended));
    here.say(`${TRACEBACK}${TRACEBACK.replace('ImportError: cannot import name', 'KeyError: no')}`);
    await waitFor('both crashes', async () => (await others.look()) && here.crashes.length > 1);
    for (const { errorType, logTail } of here.crashes) {
      expect(errorType).toBeNull();
      expect(logTail.join('\n')).toContain('ImportError');
    }
    await others.close();
  });
});

test('where several died at once and the log has one error, those that failed died of it', async () => {
  using here = world();
  const children = [spawn('sleep', ['300']), spawn('sleep', ['300'])];
  const entryOf = ({ pid }: ChildProcess, i: number) =>
    [pid, { agent_type: 'coder', task_id: `T${i}`, started_at: ago(0) }] as const;
  here.write(Object.fromEntries(children.map(entryOf)));
  const others = here.open();
  await others.look();
  await Promise.all(children.map(ended));
  // The line of source code in a Python stack looks like an error of its own.
  here.say('polling\nTraceback (most recent call last):\n  File "coder.py", line 3, in <module>\n');
  here.say('    raise RuntimeError("the model refused")\nRuntimeError: the model refused\npolling\n');
  await waitFor('both crashes', async () => (await others.look()) && here.crashes.length > 1);
  expect(here.crashes.map(({ errorType, errorMessage }) => [errorType, errorMessage])).toEqual([
    ['RuntimeError', 'the model refused'],
    ['RuntimeError', 'the model refused'],
  ]);
  await others.close();
});

const TRACEBACK = `Traceback (most recent call last):
  File "architect.py", line 3, in <module>
    from skills import SkillNames
ImportError: cannot import name 'SkillNames' from 'skills'
`;
