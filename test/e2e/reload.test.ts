import { describe, expect, test } from 'vitest';
import type { ReloadView } from '../../src/api/control.ts';
import { TestProject } from '../support/project.ts';

const sleeper = (seconds: number, more = ''): string => `{ process: { command: [sleep, "${seconds}"] }${more} }`;
const BEFORE = `components:
  db: ${sleeper(1000)}
  api: { process: { command: [sleep, "1000"], env: { LOG_LEVEL: info, TOKEN: hunter2 } }, depends_on: { db: ready } }
  web: ${sleeper(1000)}
  old: ${sleeper(1000)}
  off: ${sleeper(1000)}
`;
const AFTER = `logs: { max_total: 5GB }
components:
  db: ${sleeper(1000)}
  api: { process: { command: [sleep, "1000"], env: { LOG_LEVEL: debug, TOKEN: hunter2 } }, depends_on: { db: ready } }
  web: ${sleeper(1000, ', stop: { grace: 3s }')}
  off: ${sleeper(2000)}
  worker: ${sleeper(1000)}
`;

const runs = async (project: TestProject) =>
  Object.fromEntries((await project.status()).components.map(({ name, run_id, pid }) => [name, [run_id, pid]]));
const reload = async (project: TestProject, ...args: string[]): Promise<ReloadView> =>
  JSON.parse(await project.ok('reload', '-o', 'json', ...args)) as ReloadView;

describe('reload', () => {
  test('does what its dry run said, and touches nothing else', async () => {
    await using project = new TestProject(BEFORE);
    await project.ok('up');
    await project.ok('stop', 'off');
    const before = await runs(project);
    project.configure(AFTER);

    const plan = await reload(project, '--dry-run');
    const { dry_run, steps, ...lists } = plan;
    expect({ dry_run, ...lists }).toEqual({
      ...{
        schema_version: 1,
        dry_run: true,
        settings: ['logs'],
        added: ['worker'],
        removed: ['old'],
        restarted: ['api'],
      },
      ...{ changed: ['api', 'web', 'off'], unchanged: ['db'] },
    });
    expect(steps.find(({ component }) => component === 'api')!.because).toEqual(['env LOG_LEVEL']);
    expect(JSON.stringify(plan)).not.toContain('hunter2');
    expect(await runs(project)).toEqual(before);

    expect(await reload(project)).toEqual({ ...plan, dry_run: false });
    const after = await runs(project);
    expect(Object.keys(after)).toEqual(['db', 'api', 'web', 'off', 'worker']);
    for (const name of ['db', 'web', 'off']) expect(after[name], name).toEqual(before[name]);
    expect(after['api']).not.toEqual(before['api']);
    expect((await project.component('api')).last_restart?.reason).toBe('its configuration changed');
    expect((await project.component('off')).state).toBe('stopped');
    expect(project.processes().filter(({ command }) => command === 'sleep 1000 ')).toHaveLength(4);

    const again = await reload(project);
    expect(again.unchanged).toEqual(['db', 'api', 'web', 'off', 'worker']);
    expect(await runs(project)).toEqual(after);
  });

  test('with mistakes in it every one is told, and everything stays as it was', async () => {
    await using project = new TestProject(BEFORE);
    await project.ok('up');
    const before = await runs(project);
    project.configure(`${AFTER}  bad: { procces: {} }\n  worse: ${sleeper(1, ', stop: { grace: soon }')}\n`);
    for (const args of [['reload'], ['reload', '--dry-run']]) {
      const { code, stdout, stderr } = await project.cli(...args);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(/keepwell\.yaml:8:\d+ components\.bad/);
      expect(stderr).toMatch(/keepwell\.yaml:9:\d+ components\.worse\.stop\.grace/);
      expect(await runs(project)).toEqual(before);
    }
    // What was refused leaves nothing behind that a daemon coming back could pick up.
    project.configure(BEFORE);
    expect((await reload(project)).unchanged).toHaveLength(5);
    expect(await runs(project)).toEqual(before);
  });

  test('what is new brings what it needs, though that had been stopped by hand', async () => {
    await using project = new TestProject(`components:\n  db: ${sleeper(1000)}\n`);
    await project.ok('up');
    await project.ok('stop', 'db');
    project.configure(`components:\n  db: ${sleeper(1000)}\n  api: ${sleeper(1000, ', depends_on: { db: ready }')}\n`);
    const said = await project.ok('reload', '--dry-run');
    expect(said).toMatch(/^unchanged +db +started, because api needs it$/m);
    expect(await project.ok('reload')).toBe(said);
    expect((await project.component('db')).state).toBe('running');
    expect((await project.component('api')).state).toBe('running');
  });
});
