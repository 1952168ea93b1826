import { expect, test } from 'vitest';
import { load, oneProblem, problemsOf } from './support.ts';

const types = (keys: string) => `agents: { types: { architect: { ${keys} } } }`;
const GOOD = 'command: [python, -m, agents.architect, --task, "{task}"]';

test('a type needs nothing but a command', () => {
  const { agents, components } = load(types(GOOD));
  expect(components).toEqual([]);
  expect(agents).toMatchObject({ everyMs: 30_000, maxRespawns: 3, loop: null, stateFile: null });
  expect(agents.types).toMatchObject([
    {
      ...{ name: 'architect', assignedTo: null, minUptimeMs: 10_000, stop: { signal: 'SIGTERM', graceMs: 10_000 } },
      process: { kind: 'process', command: ['python', '-m', 'agents.architect', '--task', '{task}'], cwd: '/project' },
      backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000 },
      ...{ neverOn: [], heartbeat: null, timeoutMs: null },
      limits: { memoryBytes: null, pids: null, nofile: null, softMemoryBytes: null },
    },
  ]);
});

test('how its progress is seen, how long it may take, and after what it is not respawned', () => {
  const keys = `${GOOD}, heartbeat: { file: "beats/{task}.json", field: at, freeze_after: 2m, dump_signal: SIGQUIT }, timeout: 30m, never_on: [78, SIGILL], limits: { memory: 1GiB, soft_memory: 800MiB }`;
  expect(load(types(keys)).agents.types[0]).toMatchObject({
    heartbeat: {
      source: { kind: 'file', path: '/project/beats/{task}.json', field: 'at' },
      ...{ freezeAfterMs: 120_000, dumpSignal: 'SIGQUIT' },
    },
    ...{ timeoutMs: 1_800_000, neverOn: [78, 'SIGILL'], limits: { softMemoryBytes: 800 * 2 ** 20 } },
  });
});

test.each([
  ['heartbeat: {}', 'agents.types.architect.heartbeat: nothing says what a beat is'],
  ['heartbeat: { ping: true, log_every: 5s }', 'a beat is one thing, not log_every and ping'],
  ['heartbeat: 2m', 'must be a map, not a single value | Write: heartbeat: { log_every: 2m }'],
  ['heartbeat: { ping: true, field: at }', 'field needs file'],
  ['heartbeat: { file: "{taks}.json" }', 'there is no placeholder {taks} | Did you mean {task}?'],
  ['heartbeat: { ping: true, freeze_after: 1ms }', 'must be at least 1s'],
  ['never_on: 78', 'must be a list, not a single value | Write: never_on: [78]'],
  ['never_on: [SIGNOPE]', 'agents.types.architect.never_on[0]: '],
  ['timeout: 0s', 'agents.types.architect.timeout: '],
  [
    'heartbeat: { ping: true }, timeout: 1m',
    'timeout is 1m, so a freeze would not be noticed: freeze_after is 5m (the default) | Raise timeout, or lower heartbeat.freeze_after.',
  ],
  ['limits: { memory: 1GiB, soft_memory: 2GiB }', 'soft_memory (2GiB) must be less than memory (1GiB)'],
  ['restart: { never_on: [78] }', 'Write beside its command: backoff: { initial: 5s }, never_on: [78]'],
  ['freeze_after: 5m', '"freeze_after" belongs to the heartbeat.'],
  ['max_runtime: 5m', `Keepwell's word for "max_runtime" is timeout.`],
  ['watchdog: 5m', `Keepwell's word for "watchdog" is heartbeat.`],
])('a type with %s is refused', (keys, problem) => {
  expect(oneProblem(types(`${GOOD}, ${keys}`))).toContain(problem);
});

test('without agents there are none', () => {
  expect(load('checks: { a: { tcp: 80 } }').agents).toEqual({
    everyMs: 0,
    maxRespawns: 0,
    loop: null,
    types: [],
    stateFile: null,
  });
});

test('everything can be said about a type', () => {
  const keys = `${GOOD}, cwd: work, env: { TASK: "{task}" }, env_file: [a.env], assigned_to: dev, min_uptime: 30s, nice: 5, stop: { signal: SIGINT, grace: 1s }, backoff: { initial: 5s }, limits: { memory: 512MiB }`;
  expect(load(types(keys)).agents.types[0]).toMatchObject({
    ...{ assignedTo: 'dev', minUptimeMs: 30_000, stop: { signal: 'SIGINT', graceMs: 1_000 } },
    process: { cwd: '/project/work', env: { TASK: '{task}' }, envFiles: ['/project/a.env'], nice: 5 },
    ...{ backoff: { initialMs: 5_000 }, limits: { memoryBytes: 512 * 2 ** 20 } },
  });
});

test.each([
  [
    'data/agent_state.json',
    { agents: 'active_agents', agentType: 'agent_type', taskId: 'task_id', startedAt: 'started_at' },
  ],
  [
    '{ path: data/agent_state.json, agents: a.b, agent_type: role }',
    { agents: 'a.b', agentType: 'role', taskId: 'task_id', startedAt: 'started_at' },
  ],
])('the state file %s', (written, fields) => {
  expect(load(`agents: { state_file: ${written} }`).agents.stateFile).toEqual({
    path: '/project/data/agent_state.json',
    fields,
  });
});

test('types keep the order of the file', () => {
  const { agents } = load('agents: { types: { zoe: { command: [a] }, "1": { command: [a] }, ann: { command: [a] } } }');
  expect(agents.types.map(({ name }) => name)).toEqual(['zoe', '1', 'ann']);
});

test.each([
  ['agents: { every: 10s }', 'agents: it is not said which agents'],
  [types('cwd: a'), 'agents.types.architect: the command is missing'],
  [types('command: []'), 'agents.types.architect.command: the command is empty'],
  [
    types('command: "python a.py"'),
    'agents.types.architect.command: a command is a list of texts, not one text | Write: command: [python, a.py]',
  ],
  [
    types('command: "a | b {task}"'),
    'agents.types.architect.command: a command is a list of texts, not one text | Write: command: [sh, -c, "one | two", sh, "{task}"], with "$1" for the task.',
  ],
  [types('command: [a, "{taks}"]'), 'there is no placeholder {taks} | Did you mean {task}?'],
  [types('command: ["{task}"]'), 'the task cannot say which program is run'],
  [types('command: [sh, -c, "echo {task}"]'), '"sh" would read the task as a part of a program'],
  [types(`${GOOD}, shell: true`), 'Remove it: a task must never be read by a shell.'],
  [types(`${GOOD}, environment: {}`), `Keepwell's word for "environment" is env.`],
  [types(`${GOOD}, max_respawns: 1`), 'Write in agents: max_respawns: 3'],
  [types(`${GOOD}, backoff: { initial: 5m }`), 'max is 1m (the default), which is less than initial, 5m'],
  ['agents: { types: { Bad Name: { command: [a] } } }', 'agents.types."Bad Name": "Bad Name" is not a valid name'],
  ['agents: { types: {} }', 'agents.types: there are no types'],
  ['agents: { loop: work, types: { a: { command: [x] } } }', 'agents.loop: there is no component "work"'],
  ['agents: { interval: 10s, types: { a: { command: [x] } } }', `Keepwell's word for "interval" is every.`],
  ['agents: { every: 30, types: { a: { command: [x] } } }', 'agents.every: must be a duration'],
  ['agents: { max_respawns: -1, types: { a: { command: [x] } } }', 'agents.max_respawns: '],
  ['agents: { state_file: { agents: x } }', 'agents.state_file: the path is missing'],
])('%s is refused', (text, problem) => {
  expect(oneProblem(text)).toContain(problem);
});

test('the loop must be a component with a heartbeat', () => {
  const loop = (keys: string) => `components: { loop: { process: { command: [a] }${keys} } }\nagents: { loop: loop }`;
  expect(problemsOf(loop('')).map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'agents.loop: "loop" has no heartbeat, so nobody could tell that it froze',
  ]);
  expect(load(loop(', heartbeat: { ping: true }')).agents.loop).toBe('loop');
});
