import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createGate } from '../../../src/checks/gate.ts';
import { isAlive } from '../../support/project.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CheckWorld } from './check-world.ts';

const statuses = (checks: Readonly<Record<string, { readonly status: string }>>) =>
  Object.fromEntries(Object.entries(checks).map(([name, { status }]) => [name, status]));

/** Waits until the other one has begun too. */
const meet = (mine: string, other: string) => `touch "$DIR/${mine}"; until [ -e "$DIR/${other}" ]; do sleep 0.02; done`;

test('checks that do not need each other are asked side by side, the others after what they need', async () => {
  await using world = new CheckWorld();
  const { checks, status } = await world.run([
    world.sh('late', 'test -e "$DIR/a" && test -e "$DIR/b"', { needs: ['a', 'b'] }),
    world.sh('a', meet('a', 'b')),
    world.sh('b', meet('b', 'a')),
  ]);
  expect(status).toBe('healthy');
  expect(Object.keys(checks)).toEqual(['late', 'a', 'b']);
  expect(world.finished.at(-1)?.name).toBe('late');
});

test('what hangs on a failed check is skipped and not asked, what does not is asked all the same', async () => {
  await using world = new CheckWorld();
  const report = await world.run([
    world.sh('a', 'echo "no luck"; exit 3', { hint: 'try again' }),
    world.sh('b', 'touch "$DIR/asked"', { needs: ['a'] }),
    world.sh('c', 'touch "$DIR/asked"', { needs: ['b'] }),
    world.sh('d', 'true'),
  ]);
  expect(report).toMatchObject({
    status: 'unhealthy',
    checks: {
      a: { status: 'failed', message: 'exit code 3: no luck - try again' },
      b: { status: 'skipped', message: 'a failed' },
      c: { status: 'skipped', message: 'a failed' },
      d: { status: 'ok' },
    },
  });
  expect(existsSync(world.dir.at('asked'))).toBe(false);
  expect(world.reports).toEqual([report]);
  expect(world.finished.filter(({ tookMs }) => tookMs === 0).map(({ name }) => name)).toEqual(['b', 'c']);
});

test('a command that is too slow is ended with everything it started, whatever session that is in', async () => {
  await using world = new CheckWorld();
  const script = 'setsid sleep 300 & echo $! > "$DIR/stray"; sleep 300 & echo $! > "$DIR/child"; wait';
  const { checks } = await world.run([world.sh('slow', script, { timeoutMs: 1_500, hint: 'wake it' })]);
  expect(checks['slow']).toEqual({ status: 'failed', message: 'no answer within 1.5 s - wake it' });
  for (const name of ['stray', 'child']) {
    if (!existsSync(world.dir.at(name))) continue; // a slow machine did not get that far
    const pid = Number(readFileSync(world.dir.at(name), 'utf8'));
    await waitFor(`${name} to be gone`, () => !isAlive(pid));
  }
});

test('other kinds keep their time too, and one that throws fails with what it said', async () => {
  await using world = new CheckWorld();
  const parts = { ...world.parts, components: () => new Promise<never>(() => {}) };
  const { runChecks } = await import('../../../src/checks/run-checks.ts');
  const specs = [
    world.check('hangs', { kind: 'component', component: 'api' as never }, { timeoutMs: 50 }),
    world.check('throws', { kind: 'container_running', container: 'box' }),
  ];
  const { checks } = await runChecks(specs, parts, { signal: new AbortController().signal });
  expect(checks).toMatchObject({
    hangs: { status: 'failed', message: 'no answer within 50 ms' },
    throws: { status: 'failed', message: 'it could not be asked: there is no Engine in this test' },
  });
});

test('a failure while we were not awake is asked again, once', async () => {
  await using world = new CheckWorld();
  const count = (name: string, last: string) => `echo x >> "$DIR/${name}"; test $(wc -l < "$DIR/${name}") -ge ${last}`;
  world.stalledMs = 59_000;
  const { checks } = await world.run([world.sh('second', count('s', '2')), world.sh('third', count('t', '3'))]);
  expect(statuses(checks)).toEqual({ second: 'ok', third: 'failed' });
  expect(readFileSync(world.dir.at('t'), 'utf8')).toBe('x\nx\n');
  world.stalledMs = 0;
  await world.run([world.sh('once', count('o', '9'))]);
  expect(readFileSync(world.dir.at('o'), 'utf8')).toBe('x\n');
});

test('a report that is called off rejects with the reason, ends its commands, and says so', async () => {
  await using world = new CheckWorld();
  const off = new AbortController();
  const gate = createGate(1);
  const specs = [world.sh('a', 'echo $$ > "$DIR/pid"; exec sleep 300'), world.sh('waits', 'touch "$DIR/asked"')];
  const report = world.run(specs, { signal: off.signal, gate });
  const readPid = () => (existsSync(world.dir.at('pid')) ? Number(readFileSync(world.dir.at('pid'), 'utf8')) : 0);
  const pid = await waitFor('it to run', readPid);
  off.abort(new Error('not needed any more'));
  await expect(report).rejects.toThrow('not needed any more');
  expect(isAlive(pid)).toBe(false);
  expect(world.reports).toEqual([null]);
  expect(existsSync(world.dir.at('asked'))).toBe(false);
  expect(await gate.pass(() => Promise.resolve('free'), new AbortController().signal)).toBe('free');
});

test('no more than the gate lets in are asked at once, and each has its turn', async () => {
  const gate = createGate(2);
  const never = new AbortController().signal;
  let [inside, most] = [0, 0];
  const done = await Promise.all(
    [1, 2, 3, 4, 5].map((n) =>
      gate.pass(async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        return n;
      }, never),
    ),
  );
  expect([done, most]).toEqual([[1, 2, 3, 4, 5], 2]);
});
