import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { MonoMs, RunId } from '../../../src/base/pure/ids.ts';
import type { ComponentSpec, DependencyCondition } from '../../../src/supervision/spec.ts';
import { exitCode, killedBy, restartSpec, spec } from '../../support/builders.ts';
import type { FakeRun } from '../../support/fake-driver.ts';
import { supervisorWorld } from '../../support/supervisor-world.ts';

/** What becomes of a component before the stop: it runs, has completed, has given up, or waits for its next start. */
type Fate = 'runs' | 'completes' | 'gives-up' | 'backs-off';

interface Part {
  readonly name: string;
  readonly fate: Fate;
  readonly needs: readonly string[];
  /** How long it takes to end once it was asked to; null: it must be killed. */
  readonly endsInMs: number | null;
}

const condition = (needed: Part): DependencyCondition => (needed.fate === 'completes' ? 'completed' : 'started');

function specOf(part: Part, all: readonly Part[]): ComponentSpec {
  const needed = part.needs.map((name) => all.find((each) => each.name === name)!);
  const limit = part.fate === 'gives-up' ? { max: 0, withinMs: 600_000, retryMs: null } : {};
  return spec(part.name, {
    dependsOn: Object.fromEntries(needed.map((each) => [each.name, condition(each)])),
    stop: { signal: 'SIGTERM', graceMs: 4_000 },
    restart: restartSpec({
      policy: part.fate === 'completes' ? 'on-failure' : 'always',
      backoff: { initialMs: 3_000 },
      limit: limit as object,
    }),
  });
}

/** Everything that `name` depends on, directly or not. */
function below(name: string, all: readonly Part[]): ReadonlySet<string> {
  const found = new Set(all.find((part) => part.name === name)!.needs);
  for (const each of found) for (const further of all.find((part) => part.name === each)!.needs) found.add(further);
  return found;
}

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

/** Needs point to earlier names only; the order of the file is another one. */
const graphs: fc.Arbitrary<readonly Part[]> = fc
  .tuple(
    fc.array(
      fc.record({
        fate: fc.oneof(
          { weight: 4, arbitrary: fc.constant<Fate>('runs') },
          { weight: 2, arbitrary: fc.constant<Fate>('completes') },
          { weight: 1, arbitrary: fc.constantFrom<Fate>('gives-up', 'backs-off') },
        ),
        needs: fc.array(fc.nat(6), { maxLength: 3 }),
        endsInMs: fc.oneof(fc.constantFrom(0, 1, 700, 1_500, 3_000), fc.constant(null)),
      }),
      { minLength: 2, maxLength: NAMES.length },
    ),
    fc.infiniteStream(fc.nat(1_000)),
  )
  .map(([drafts, order]) => {
    const parts = drafts.map(({ fate, needs, endsInMs }, index): Part => {
      const earlier = index === 0 ? [] : [...new Set(needs.map((each) => NAMES[each % index]!))];
      return { name: NAMES[index]!, fate, needs: earlier, endsInMs };
    });
    return parts
      .map((part) => ({ part, key: order.next().value as number }))
      .sort((one, other) => one.key - other.key)
      .map(({ part }) => part);
  });

const deaths = fc.array(fc.record({ name: fc.constantFrom(...NAMES), afterMs: fc.nat(5_000) }), { maxLength: 3 });

/** A world in which each component is what its fate says, and whoever is asked to end does so in its own time. */
async function settledWorld(parts: readonly Part[]) {
  const world = supervisorWorld(parts.map((part) => specOf(part, parts)));
  const { supervisor, driver, clock } = world;
  const partOf = (run: FakeRun) => parts.find(({ name }) => name === run.launch.component)!;
  const kill = driver.killTree.bind(driver);
  const wrongs: string[] = [];
  const signalled: string[] = [];
  driver.obedient = false;
  let watch: (run: FakeRun) => void = () => {};
  driver.signal = (id: RunId) => {
    const run = driver.runs.find(({ launch }) => launch.run === id)!;
    watch(run);
    signalled.push(run.launch.component);
    const { endsInMs } = partOf(run);
    if (endsInMs === null) return;
    const over = clock.sleepUntil((clock.now() + endsInMs) as MonoMs, new AbortController().signal);
    void over.then(() => run.over || driver.die(run.launch.component, killedBy('SIGTERM')));
  };
  driver.killTree = (id: RunId) => kill(id);
  supervisor.up(parts.map(({ name }) => name));
  await clock.advance(0);
  // Completions first, whatever the order of the file: they let others begin.
  for (const fate of ['completes', 'completes', 'completes', 'gives-up', 'backs-off'] as const) {
    for (const { name } of parts.filter((part) => part.fate === fate)) {
      if (driver.liveNames.includes(name)) driver.die(name, exitCode(fate === 'completes' ? 0 : 1));
      await clock.advance(0);
    }
  }
  return {
    ...world,
    wrongs,
    signalled,
    watchSignals: (look: (run: FakeRun) => void) => {
      watch = look;
    },
  };
}

describe('whatever the graph, the states and the times', () => {
  test('no dependency is signalled while a dependent that is to stop lives', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, deaths, fc.nat(127), fc.boolean(), async (parts, accidents, mask, isAll) => {
        const world = await settledWorld(parts);
        const { supervisor, driver, clock, wrongs } = world;
        const chosen = parts.filter((_, index) => isAll || (mask >> index) & 1).map(({ name }) => name);
        world.watchSignals(({ launch }) => {
          for (const other of driver.liveNames)
            if (chosen.includes(other) && below(other, parts).has(launch.component))
              wrongs.push(`${launch.component} was signalled while ${other} lived`);
        });
        for (const { name, afterMs } of accidents) {
          const at = clock.sleepUntil((clock.now() + afterMs) as MonoMs, new AbortController().signal);
          void at.then(() => driver.liveNames.includes(name) && driver.die(name, exitCode(1)));
        }
        supervisor.stop(chosen);
        await clock.advance(60_000);
        expect(wrongs).toEqual([]);
        expect(chosen.filter((name) => world.state(name) !== 'stopped')).toEqual([]);
        supervisor.close();
      }),
      { numRuns: 300 },
    );
  });

  test('a restart of several takes dependents down first and brings them up last', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, fc.nat(127), fc.boolean(), async (parts, mask, isAll) => {
        const world = await settledWorld(parts);
        const { supervisor, driver, clock, wrongs } = world;
        const chosen = parts.filter((_, index) => isAll || (mask >> index) & 1).map(({ name }) => name);
        const old = new Set(driver.runs.map(({ launch }) => launch.run));
        world.watchSignals(({ launch }) => {
          for (const other of driver.liveNames)
            if (chosen.includes(other) && below(other, parts).has(launch.component))
              wrongs.push(`${launch.component} was signalled while ${other} lived`);
        });
        const start = driver.start.bind(driver);
        driver.start = (launch, report) => {
          if (chosen.includes(launch.component)) {
            for (const needed of below(launch.component, parts))
              if (chosen.includes(needed) && !driver.of(needed).some((run) => !old.has(run.launch.run)))
                wrongs.push(`${launch.component} was started before ${needed}, which it depends on`);
          }
          start(launch, report);
          const part = parts.find(({ name }) => name === launch.component)!;
          if (part.fate !== 'completes') return;
          const done = clock.sleepUntil((clock.now() + 1) as MonoMs, new AbortController().signal);
          void done.then(() => {
            if (driver.live(part.name).launch.run === launch.run) driver.die(part.name, exitCode(0));
          });
        };
        supervisor.restart(chosen);
        await clock.advance(120_000);
        expect(wrongs).toEqual([]);
        for (const { name, fate } of parts) {
          const isBlocked = parts.some(
            (other) => other.fate === 'gives-up' && !chosen.includes(other.name) && below(name, parts).has(other.name),
          );
          if (!chosen.includes(name) || isBlocked) continue;
          expect(driver.of(name).some(({ launch }) => !old.has(launch.run))).toBe(true);
          expect(world.state(name)).toBe(fate === 'completes' ? 'completed' : 'running');
        }
        supervisor.close();
      }),
      { numRuns: 300 },
    );
  });
});

const job = (name: string, over: Partial<ComponentSpec> = {}) =>
  spec(name, { restart: restartSpec({ policy: 'on-failure' }), ...over });
const needing = (name: string, dependsOn: Record<string, DependencyCondition>) => spec(name, { dependsOn });

describe('one by one', () => {
  test('a completed job and an independent component before it in the file do not let a dependency go early', async () => {
    const { supervisor, driver, clock, state } = supervisorWorld([
      job('init'),
      spec('solo'),
      spec('api'),
      needing('web', { api: 'ready' }),
    ]);
    supervisor.up(['init', 'solo', 'api', 'web']);
    await clock.advance(0);
    driver.die('init', exitCode(0));
    driver.obedient = false;
    supervisor.stop(['init', 'solo', 'api', 'web']);
    expect([state('init'), state('solo'), state('web'), state('api')]).toEqual([
      'stopped',
      'stopping',
      'stopping',
      'running',
    ]);
    driver.die('web', exitCode(0));
    expect(state('api')).toBe('stopping');
    supervisor.close();
  });

  test('a completed job is run again only when those who need it are down', async () => {
    const { supervisor, driver, clock, state } = supervisorWorld([job('init'), needing('api', { init: 'completed' })]);
    supervisor.up(['api']);
    await clock.advance(0);
    driver.die('init', exitCode(0));
    await clock.advance(0);
    driver.obedient = false;
    supervisor.restart(['init', 'api']);
    expect([state('init'), state('api')]).toEqual(['completed', 'stopping']);
    driver.die('api', exitCode(0));
    await clock.advance(0);
    expect([state('init'), state('api')]).toEqual(['running', 'waiting']);
    driver.die('init', exitCode(0));
    await clock.advance(0);
    expect([state('init'), state('api')]).toEqual(['completed', 'running']);
    supervisor.close();
  });

  test('who waits in a restart goes on when what it waits for is started by hand meanwhile', async () => {
    const { supervisor, driver, clock, state } = supervisorWorld([
      spec('db'),
      needing('api', { db: 'started' }),
      needing('web', { db: 'started' }),
    ]);
    supervisor.up(['api', 'web']);
    await clock.advance(0);
    driver.obedient = false;
    supervisor.restart(['db', 'api', 'web']);
    driver.die('api', exitCode(0));
    await clock.advance(0);
    expect([state('db'), state('api'), state('web')]).toEqual(['running', 'waiting', 'stopping']);
    supervisor.start(['db']);
    await clock.advance(0);
    expect([state('db'), state('api')]).toEqual(['running', 'running']);
    supervisor.close();
  });

  test('a shutdown in the middle of a restart begins nothing any more', async () => {
    const { supervisor, driver, clock, state } = supervisorWorld([job('init'), needing('api', { init: 'completed' })]);
    supervisor.up(['api']);
    await clock.advance(0);
    driver.die('init', exitCode(0));
    await clock.advance(0);
    driver.obedient = false;
    supervisor.restart(['init', 'api']);
    const over = supervisor.shutDown();
    driver.die('api', exitCode(0));
    await over;
    await clock.advance(0);
    expect([state('init'), state('api')]).toEqual(['completed', 'stopped']);
    expect(driver.of('init').length).toBe(1);
    supervisor.close();
  });
});
