/** Which crash is taken for one that somebody asked for, with everything that runs replaced. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import type { Incident } from '../../../src/incidents/rules/incident.ts';
import { openRehearsals } from '../../../src/simulate/rehearsals.ts';
import { standIn } from '../../../src/simulate/rules/stand-in.ts';
import { createSimulations, type SimulationWorld } from '../../../src/simulate/simulations.ts';
import type { ProcessLaunch } from '../../../src/supervision/ports/driver.ts';
import type { NewCrash } from '../../../src/supervision/ports/store.ts';
import { markSimulated } from '../../../src/supervision/rules/simulation.ts';
import type { ComponentView } from '../../../src/supervision/rules/views.ts';
import { run, spec } from '../../support/builders.ts';
import { crashSample, incidentSample, START, wall } from '../../support/ticket-samples.ts';

const RUN = run('api~1');

function world(over: Partial<SimulationWorld> = {}, open: readonly Incident[] = []) {
  const meta = new Map<string, string>();
  const well: unknown[] = [];
  const view = { state: 'running', run_id: RUN, pid: 1, limits: [], condition: null } as unknown as ComponentView;
  const scene: SimulationWorld = {
    view: (name) => (name === 'api' ? view : null),
    specs: () => [spec('api')],
    agents: () => ({ types: [] }) as unknown as ReturnType<SimulationWorld['agents']>,
    runningAgents: () => [],
    hasAgentFor: () => false,
    spawn: async () => {},
    restart: () => {},
    signalMain: () => true,
    kill: () => {},
    freeze: async () => {},
    freezeAgent: async () => {},
    now: () => wall(START),
    ...over,
  };
  const begin = () => {
    const known = openRehearsals({
      ...{ meta: (key) => meta.get(key) ?? null, setMeta: (key, value) => void meta.set(key, value) },
    });
    const incidents = { incidents: () => open, recovered: (_: unknown, task?: string | null) => void well.push(task) };
    const marked = (crash: NewCrash): NewCrash => {
      const asked = known.simulated(crash);
      return asked === null ? crash : markSimulated(crash, asked);
    };
    return { ...known, ...createSimulations(scene, known, incidents), marked };
  };
  return { simulations: begin(), begin, meta, well };
}

const launch = { kind: 'process', run: run('api~2'), cwd: '/', command: ['real'] } as unknown as ProcessLaunch;
const crashAt = (ms: number): NewCrash => ({ ...crashSample(), run: RUN, at: wall(ms) }) as unknown as NewCrash;

test('a stand-in runs once, and the next daemon knows its crash', async () => {
  const { simulations, begin } = world();
  await simulations.crash({ component: 'api', kind: 'exit' });
  expect(simulations.launchOf(spec('api'), launch).command).not.toEqual(['real']);
  expect(simulations.launchOf(spec('api'), launch).command).toEqual(['real']);
  expect(begin().marked({ ...crashAt(START), run: launch.run }).simulated).toEqual({ kind: 'exit', notify: false });
});

test('somebody who stops a component before its stand-in runs, and starts it later, gets the component', async () => {
  const { simulations } = world();
  await simulations.crash({ component: 'api', kind: 'exit' });
  simulations.told({ subject: { kind: 'component', name: 'api' }, type: 'component.stopped' });
  expect(simulations.launchOf(spec('api'), launch).command).toEqual(['real']);
});

test('a program that caught the signal and crashes an hour later has a crash of its own', async () => {
  const { simulations } = world();
  await simulations.crash({ component: 'api', kind: 'signal' });
  expect(simulations.marked(crashAt(START + 1_000)).simulated).toEqual({ kind: 'signal', notify: false });
  expect(simulations.marked(crashAt(START + 3_600_000)).simulated).toBeUndefined();
});

test('what could not be hit is not marked', async () => {
  const { simulations } = world({ signalMain: () => false });
  await expect(simulations.crash({ component: 'api', kind: 'signal' })).rejects.toThrow('its main process is gone');
  expect(simulations.marked(crashAt(START)).simulated).toBeUndefined();
});

test('a task without an agent that is to be hit is refused, not passed over', async () => {
  const { simulations } = world();
  await expect(simulations.crash({ component: 'api', task: 'T' })).rejects.toThrow('task goes with agent');
});

test('the incident of a rehearsal over which a daemon died is closed by the next one, unless it goes on', () => {
  const open = [incidentSample(2, START, { tasks: ['rehearsed'] }), incidentSample(2, START, { tasks: ['real'] })];
  const asked = { 'task rehearsed': { kind: 'exit', notify: false, memoryBytes: null } };
  for (const goesOn of [false, true]) {
    const { begin, meta, well } = world({ hasAgentFor: () => goesOn }, open);
    meta.set('simulations', JSON.stringify(asked));
    begin().begin();
    expect(well).toEqual(goesOn ? [] : ['rehearsed']);
  }
});

test('a stand-in that wants memory says what it died of: it got no more, or the limit did not hold', () => {
  const [, , ...words] = standIn('oom', '/', 32 * 2 ** 20).command;
  const script = words[0]!;
  const ended = (before: string) =>
    spawnSync('/bin/sh', ['-c', `${before}${script}`, ...words.slice(1)], { encoding: 'utf8', env: { LC_ALL: 'C' } });
  expect(ended('')).toMatchObject({ status: 1, stderr: expect.stringContaining('limits.memory did not hold') });
  const { status, stderr } = ended('ulimit -v 40000; ');
  expect(status).toBe(1);
  expect(stderr).toMatch(/memory/);
  expect(stderr).not.toContain('did not hold');
  expect(ended('PATH=/nowhere; ').status).toBe(127);
});
