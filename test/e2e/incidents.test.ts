/** One cause, one incident, one alert; also when the daemon is killed while it tells. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AlertMessage } from '../../src/incidents/alerts/rules/message.ts';
import type { Incident } from '../../src/index.ts';
import { Keepwell } from '../../src/index.ts';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** It goes down, and cannot come up again, while the file `broken` is there. */
const DATABASE = `#!/bin/sh
touch listening
while [ ! -e broken ]; do sleep 0.1; done
rm listening
echo "FATAL:  could not write to file: No space left on device" >&2
exit 1
`;

/** Lives as long as the database does. That was started before it, but may not have come far yet. */
const DEPENDENT = `#!/bin/sh
until [ -e listening ]; do sleep 0.1; done
while [ -e listening ]; do sleep 0.1; done
echo "Error: connect ECONNREFUSED 127.0.0.1:5432" >&2
exit 1
`;

const DEPENDENTS = ['api', 'cron', 'mail', 'web', 'worker'];

const config = (dependents: readonly string[]): string => `
name: shop
components:
  db:
    process: { command: [./db.sh] }
    restart: { limit: { max: 0, retry: never } }
${dependents
  .map((name) => `  ${name}: { process: { command: [./dependent.sh] }, depends_on: { db: started } }`)
  .join('\n')}
alerts: { channels: [{ command: { command: [sh, -c, "cat >>alerts.jsonl"] } }] }
`;

class Shop extends TestProject {
  constructor(dependents: readonly string[]) {
    super(config(dependents));
    this.write('db.sh', DATABASE);
    this.write('dependent.sh', DEPENDENT);
  }
  breaks(): void {
    this.write('broken', '');
  }
  async mended(): Promise<void> {
    rmSync(this.path('broken'));
    await this.cli('restart', 'db'); // the daemon may be killed meanwhile
  }
  /** What people were told; lines that are being written are none yet. */
  told(): readonly AlertMessage[] {
    const lines = this.read('alerts.jsonl').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as AlertMessage);
  }
  messages(state: 'raised' | 'over'): readonly AlertMessage[] {
    return this.told().filter(({ alerts }) => alerts.some((alert) => alert.state === state));
  }
  async untilTold(state: 'raised' | 'over', times = 1): Promise<void> {
    await waitFor(`${state} to be told`, () => this.messages(state).length >= times);
  }
  async incidents(): Promise<readonly Incident[]> {
    await using keepwell = await Keepwell.connect({ cwd: this.dir });
    return keepwell.incidents({ state: 'all' });
  }
}

test.concurrent('a database that goes down with five dependents is one incident, one alert that names it, and one recovery', async () => {
  await using shop = new Shop(DEPENDENTS);
  await shop.ok('up');
  for (const name of DEPENDENTS) await shop.until(name, 'running', ({ state }) => state === 'running');
  shop.breaks();
  await shop.untilTold('raised');
  const root = await waitFor('all five to be affected', async () => {
    const [open, ...more] = (await shop.incidents()).filter(({ state }) => state === 'open');
    return more.length === 0 && open?.affected.length === DEPENDENTS.length ? open : null;
  });
  expect(root).toMatchObject({ subject: { kind: 'component', name: 'db' }, count: 1, ticket: 'BUG-001' });
  expect([...root.affected].sort()).toEqual(DEPENDENTS);
  expect(await shop.ok('incidents')).toMatch(new RegExp(`\\n${root.id} +open +1 .* BUG-001 .* \\+2 +db: `));
  expect(await shop.ok('incidents', 'ack', String(root.id))).toMatch(/^incident \d+ acknowledged: db: /);
  expect(await shop.ok('incidents')).toMatch(new RegExp(`\\n${root.id} +acknowledged +1 `));
  expect(await shop.ok('incidents', 'silence', String(root.id), '--for', '2h')).toMatch(/no alerts until .*: db: /);
  expect(await shop.ok('incidents')).toMatch(new RegExp(`\\n${root.id} +silenced +1 `));
  expect((await shop.cli('incidents', 'ack', 'seven')).code).toBe(2);
  expect((await shop.cli('incidents', 'ack', '999')).stderr).toContain('There is no incident 999.');
  // One that noticed before we saw the database end was folded in.
  const others = (await shop.incidents()).filter(({ id }) => id !== root.id);
  expect(others.filter(({ folded_into }) => folded_into !== root.id)).toEqual([]);

  await shop.mended();
  await shop.untilTold('over');
  const [first, last, ...more] = shop.told();
  expect(more).toEqual([]);
  const about = { kind: 'gave-up', subject: { kind: 'component', name: 'db' }, incident: root.id, ticket: 'BUG-001' };
  expect(first?.alerts).toMatchObject([{ ...about, state: 'raised' }]);
  expect(first?.text).toMatch(/^\[shop\] db is down and no longer restarted \(.*no space left/i);
  expect(last?.alerts).toMatchObject([{ ...about, state: 'over' }]);
  expect(last?.text).toMatch(/^\[shop\] Recovered: db, .* \(was: db is down/);
  for (const name of DEPENDENTS) await shop.until(name, 'running', ({ state }) => state === 'running');
  expect(await shop.ok('incidents')).toBe('no open incidents\n');
  await shop.ok('down');
  const offline = await shop.cli('incidents', '--all', '-o', 'json');
  expect(JSON.parse(offline.stdout).incidents).toContainEqual(
    expect.objectContaining({ id: root.id, state: 'resolved' }),
  );
});

test.concurrent('what is not ready for a minute is an incident that names who waits for it; what somebody kills is the fault of nothing else', async () => {
  await using project = new TestProject(`
components:
  db: { process: { command: [sleep, "1000"] }, readiness: { exec: { command: [test, -e, well] }, period: 1s } }
  api: { process: { command: [sleep, "1000"] }, depends_on: { db: ready } }
`);
  await project.ok('up', '--no-wait');
  await using keepwell = await Keepwell.connect({ cwd: project.dir });
  const open = () => keepwell.incidents({ state: 'open' });
  const [first, ...more] = await waitFor('the incident', async () => {
    const found = await open();
    return found.some(({ affected }) => affected.length > 0) ? found : null;
  });
  expect(more).toEqual([]);
  expect(first).toMatchObject({ subject: { name: 'db' }, affected: ['api'], ticket: null, count: 1 });
  expect(first?.title).toMatch(/^db is not ready: readiness exec/);
  expect(await project.ok('incidents')).toMatch(/ api +db is not ready/);
  project.write('well', '');
  await project.until('api', 'running', ({ state }) => state === 'running');
  await waitFor('both to be well', async () => (await open()).length === 0);
  for (const name of ['db', 'api']) kill((await project.component(name)).pid!);
  const killed = await waitFor('both incidents', async () => {
    const found = await open();
    return found.length >= 2 ? found : null;
  });
  expect(killed.map(({ subjects, affected }) => [subjects.map(({ name }) => name), affected]).sort()).toEqual([
    [['api'], []],
    [['db'], []],
  ]);
});

describe.concurrent('a daemon that is killed', () => {
  /** Sent and not written down is sent again, with the same id: twice is better than never. */
  test.each([
    ['alert.before-send', 1, { raised: 1, over: 1 }],
    ['alert.after-send', 1, { raised: 2, over: 1 }],
    ['alert.before-send', 2, { raised: 1, over: 1 }],
    ['alert.after-send', 2, { raised: 1, over: 2 }],
  ] as const)(
    'at %s of message %i loses none, and repeats only what may not have arrived',
    async (point, nth, times) => {
      await using shop = new Shop([]);
      const first = shop.start(['daemon'], { KEEPWELL_FAILPOINTS: `${point}=crash@${nth}` });
      const death = once(first, 'exit');
      const comesBack = async () => {
        expect(await death).toEqual([null, 'SIGKILL']);
        await shop.answered(shop.start(['daemon']).pid!);
      };
      await shop.answered(first.pid!);
      await shop.until('db', 'running', ({ state }) => state === 'running');
      shop.breaks();
      if (nth === 1) await comesBack();
      await shop.untilTold('raised', times.raised);
      await shop.mended();
      if (nth === 2) await comesBack();
      await shop.untilTold('over', times.over);
      expect(shop.told().map(({ alerts }) => alerts.map(({ state }) => state))).toEqual([
        ...Array.from({ length: times.raised }, () => ['raised']),
        ...Array.from({ length: times.over }, () => ['over']),
      ]);
      for (const state of ['raised', 'over'] as const)
        expect(new Set(shop.messages(state).map(({ id }) => id)).size).toBe(1);
    },
  );
});

describe('alerts', () => {
  test('tell of a crash whose restart helped, and of its end, who asks for that; also after a kill -9 in between', async () => {
    await using shop = new Shop([]);
    shop.configure(`
name: shop
components:
  db: { process: { command: [sh, -c, "[ -e mended ] && exec sleep 1000; touch mended; exit 7"] } }
alerts:
  channels:
    - command: { command: [sh, -c, "cat >>alerts.jsonl"] }
      on: [crash, recovered]
    - command: { command: [sh, -c, "cat >>pager.jsonl"] }
      on: [gave-up, recovered]
`);
    await shop.ok('up');
    await shop.untilTold('raised');
    kill(shop.daemonPid()!, 'SIGKILL');
    await shop.untilTold('over');
    const items = shop.told().flatMap(({ alerts }) => alerts.map(({ state, kind }) => `${state} ${kind}`));
    // What was on its way when the daemon died may be told twice, with the same id.
    expect([...new Set(items)]).toEqual(['raised crash', 'over crash']);
    expect(new Set(shop.told().map(({ id }) => id)).size).toBe(2);
    expect(shop.told()[0]?.text).toMatch(/^\[shop\] db crashed \(/);
    expect(shop.read('pager.jsonl')).toBe('');
  });

  test('alerts test tries every channel at once and says which one failed; without channels it says what to write', async () => {
    await using project = new TestProject(`
name: shop
components:
  web: { process: { command: [sleep, "1000"] } }
alerts:
  channels:
    - command: { command: [sh, -c, "cat >>alerts.jsonl"] }
    - ntfy: { topic: shop, url: "http://127.0.0.1:1" }
    - email: { server: "smtp://127.0.0.1:1", user: me, password: hidden-word, from: kw@example.org, to: [me@example.org] }
`);
    expect((await project.cli('up')).code).toBe(0);
    const tried = await project.cli('alerts', 'test');
    expect(tried.code).toBe(1);
    expect(tried.stdout.trim().split('\n')).toEqual([
      expect.stringMatching(/^command sh: sent$/) as string,
      'ntfy at 127.0.0.1:1: failed: 127.0.0.1:1 cannot be asked: connection refused',
      'email by 127.0.0.1:1: failed: 127.0.0.1:1 cannot be asked: no connection',
    ]);
    expect(JSON.parse(project.read('alerts.jsonl'))).toMatchObject({
      text: '[shop] This is a test: alerts arrive here',
    });
    const listed = await project.cli('alerts');
    expect(listed.stdout).toMatch(/^CHANNEL +ON +LOST +STATE\ncommand sh +all +0 +ok\n/);
    expect(`${tried.stdout}${listed.stdout}`).not.toContain('hidden-word');

    await using keepwell = await Keepwell.connect({ cwd: project.dir });
    expect((await keepwell.testAlerts()).map(({ ok }) => ok)).toEqual([true, false, false]);

    project.configure('name: shop\ncomponents:\n  web: { process: { command: [sleep, "1000"] } }\n');
    expect((await project.cli('reload')).code).toBe(0);
    const none = await project.cli('alerts', 'test');
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('No alert channel is configured');
  });
});
