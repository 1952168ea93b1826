import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CrashesView, StatusView } from '../../src/supervision/rules/views.ts';
import { type BuiltVersion, builtVersion } from '../support/built-version.ts';
import { isAlive, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

/** Exits with the code that somebody writes into a file. */
const obeys = (file: string) =>
  `echo up; while [ ! -s ${file} ]; do sleep 0.05; done; read -r code < ${file}; rm ${file}; exit $$code`;
const NOW = 'restart: { backoff: { initial: 0s, jitter: 0 } }, min_uptime: 0s';
const CONFIG = `components:
  counts: { process: { command: "i=0; while :; do i=$$((i + 1)); echo $$i; sleep 0.02; done", shell: true } }
  dies: { process: { command: "${obeys('dies-now')}", shell: true }, ${NOW} }
  killed: { process: { command: [sleep, "1000"] }, depends_on: { counts: ready }, ${NOW} }
`;

class Upgrade {
  readonly project: TestProject;
  constructor(project: TestProject) {
    this.project = project;
  }

  async cli({ entry }: BuiltVersion, ...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [entry, ...args], {
      cwd: this.project.dir,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const code = await new Promise<number | null>((done) => child.once('close', done));
    if (code !== 0) throw new Error(`keepwell ${args.join(' ')} → ${code}\n${stdout}\n${stderr}`);
    return { stdout, stderr };
  }

  async status(version: BuiltVersion): Promise<StatusView> {
    return JSON.parse((await this.cli(version, 'status', '-o', 'json')).stdout) as StatusView;
  }

  async crashes(version: BuiltVersion): Promise<CrashesView['crashes']> {
    return (JSON.parse((await this.cli(version, 'crashes', '-o', 'json')).stdout) as CrashesView).crashes;
  }

  async until(version: BuiltVersion, name: string, restarts: number) {
    return await waitFor(`${name} to have been restarted ${restarts} times`, async () => {
      const { components } = await this.status(version);
      return components.find((one) => one.name === name && one.restarts === restarts && one.state === 'running');
    });
  }

  /** The first line of its shim of sh; null: it has the native one. */
  shimOf(run: string): string | null {
    const file = `${this.project.home}/runs/${run}/shim.sh`;
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n')[0]! : null;
  }
}

const runs = ({ components }: StatusView) =>
  components.map(({ name, run_id, pid, restarts }) => [name, run_id, pid, restarts]);
const ends = (crashes: CrashesView['crashes']) =>
  crashes.map(({ id, subject, run_id, exit }) => [id, subject.name, run_id, exit.code ?? exit.signal]);

describe('from one built version to the next, and back', () => {
  test('no component notices, exits are recorded by whichever daemon is there, and nothing is lost', async () => {
    using old = builtVersion('0.0.8', { shimLine: 'as it was in 0.0.8' });
    using young = builtVersion('0.0.9');
    await using project = new TestProject(CONFIG);
    const upgrade = new Upgrade(project);

    await upgrade.cli(old, 'up');
    const before = await upgrade.status(old);
    expect(before.daemon.version).toBe('0.0.8');
    for (const { run_id } of before.components) expect(upgrade.shimOf(run_id!)).toContain('as it was in 0.0.8');

    const { stderr } = await upgrade.cli(young, 'up');
    expect(stderr).toContain('the running daemon is version 0.0.8; handing over to 0.0.9');
    const after = await upgrade.status(young);
    expect(after.daemon).toMatchObject({ version: '0.0.9', answers: true });
    expect(isAlive(before.daemon.pid!)).toBe(false);
    expect(runs(after)).toEqual(runs(before));
    expect(after.components.map(({ adopted, state }) => [adopted, state])).toEqual(Array(3).fill([true, 'running']));

    // Under the shim of sh: its exit code and its signal reach the newer daemon, and the next run has the native shim.
    project.write('dies-now', '7\n');
    const second = await upgrade.until(young, 'dies', 1);
    expect(upgrade.shimOf(second.run_id!)).toBeNull();
    expect(second.shim).toEqual({ kind: 'native', why: null });
    kill(after.components.find(({ name }) => name === 'killed')!.pid!, 'SIGTERM');
    await upgrade.until(young, 'killed', 1);
    const known = await upgrade.crashes(young);
    expect(ends(known).map(([, name, , how]) => [name, how])).toEqual([
      ['killed', 'SIGTERM'],
      ['dies', 7],
    ]);
    expect(known.map(({ run_id }) => run_id).sort()).toEqual(
      before.components.flatMap(({ name, run_id }) => (name === 'counts' ? [] : [run_id])).sort(),
    );

    // Back to the older version, which has no native one: one run has its shim of sh, two have a native one.
    const between = await upgrade.status(young);
    await upgrade.cli(old, 'up');
    const back = await upgrade.status(old);
    expect(back.daemon.version).toBe('0.0.8');
    expect(runs(back)).toEqual(runs(between));
    expect(ends(await upgrade.crashes(old))).toEqual(ends(known));
    project.write('dies-now', '9\n');
    await upgrade.until(old, 'dies', 2);
    expect(ends(await upgrade.crashes(old))[0]!.slice(1)).toEqual(['dies', second.run_id, 9]);

    // Over both hand-overs, every line was written once.
    const lines = project.log('counts').split('\n').slice(0, -1).map(Number);
    expect(lines).toEqual(lines.map((_, i) => i + 1));
    expect(lines.length).toBeGreaterThan(50);
  });

  test('an exit in the moment without any daemon is recorded by the next version', async () => {
    using old = builtVersion('0.0.8', { shimLine: 'as it was in 0.0.8' });
    using young = builtVersion('0.0.9');
    await using project = new TestProject(CONFIG);
    const upgrade = new Upgrade(project);
    await upgrade.cli(old, 'up');
    const before = await upgrade.status(old);
    kill(project.guardianPid()!);
    kill(before.daemon.pid!);
    await waitFor('the daemon to be gone', () => project.daemonPid() === null);
    const [counts, dies] = before.components;
    project.write('dies-now', '42\n');
    await waitFor('it to have exited', () => !isAlive(dies!.pid!));
    await upgrade.cli(young, 'up');
    await upgrade.until(young, 'dies', 1);
    expect(ends(await upgrade.crashes(young))).toEqual([[1, 'dies', dies!.run_id, 42]]);
    expect((await upgrade.status(young)).components[0]).toMatchObject({ run_id: counts!.run_id, restarts: 0 });
  });

  test('what is removed or stopped after the upgrade is really gone, older shims and all', async () => {
    using old = builtVersion('0.0.8', { shimLine: 'as it was in 0.0.8' });
    using young = builtVersion('0.0.9');
    await using project = new TestProject(CONFIG);
    const upgrade = new Upgrade(project);
    await upgrade.cli(old, 'up');
    await upgrade.cli(young, 'up');
    await upgrade.cli(young, 'stop', 'killed');
    await upgrade.cli(young, 'down');
    await waitFor('nothing to be left', () => project.processes().length === 0);
    expect(readdirSync(`${project.home}/runs`).filter((name) => name.includes('~'))).toEqual([]);
    expect(await upgrade.crashes(young)).toEqual([]);
  });
});
