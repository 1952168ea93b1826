import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { StatusView } from '../../src/supervision/rules/views.ts';
import { type BuiltVersion, builtVersion, writeVersion } from '../support/built-version.ts';
import { Machine, noMachine } from '../support/machine.ts';
import { ENTRY, TestProject } from '../support/project.ts';
import { tempDir } from '../support/temp-dir.ts';
import { waitFor } from '../support/wait-for.ts';

/** Writes what happens to it into a common diary; ready once that stands there. */
const diarist = (name: string, needs = '') =>
  `${name}: { process: { command: "trap 'echo ${name} stop >> diary; exit 0' TERM; echo ${name} start >> diary; echo up; while :; do sleep 0.05; done", shell: true }, readiness: { log: up }${needs} }`;
const CHAIN = `name: shop
components:
  ${diarist('web', ', depends_on: { api: ready }')}
  ${diarist('api', ', depends_on: { once: completed }')}
  once: { process: { command: "echo once start >> diary", shell: true }, depends_on: { db: ready }, restart: { policy: on-failure } }
  ${diarist('db')}
  ${diarist('off')}
`;
const IN_ORDER = ['db start', 'once start', 'api start', 'web start'];
const NOBODY = 65_534;
const UNIT = 'keepwell-shop.service';

/** A project on the disk of a machine. */
class Shop {
  readonly dir: string;
  machine: Machine;
  entry: string;

  constructor(machine: Machine, dir: string, config: string, entry = ENTRY) {
    this.machine = machine;
    this.dir = dir;
    this.entry = entry;
    mkdirSync(dir);
    this.configure(config);
  }

  configure(config: string): void {
    writeFileSync(join(this.dir, 'keepwell.yaml'), config);
  }
  get diary(): readonly string[] {
    const file = join(this.dir, 'diary');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }
  forget(): void {
    writeFileSync(join(this.dir, 'diary'), '');
  }

  async run(...command: readonly string[]): Promise<{ stdout: string; stderr: string }> {
    const { code, stdout, stderr } = await this.machine.run(this.dir, ...command);
    if (code === 0) return { stdout, stderr };
    const log = join(this.dir, '.keepwell/daemon.log');
    const said = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : '';
    throw new Error(`${command.join(' ')} → ${code}\n${stdout}\n${stderr}\n${said}`);
  }
  keepwell(...args: readonly string[]) {
    return this.run(process.execPath, this.entry, ...args);
  }
  systemctl(...args: readonly string[]) {
    return this.run('systemctl', '--user', ...args);
  }

  async status(): Promise<StatusView> {
    return JSON.parse((await this.keepwell('status', '-o', 'json')).stdout) as StatusView;
  }
  async runs(): Promise<Readonly<Record<string, unknown>>> {
    const { components } = await this.status();
    return Object.fromEntries(components.map(({ name, run_id, pid }) => [name, [run_id, pid]]));
  }
  /** Waits until a daemon answers that is not this one. */
  async daemonAfter(pid: number | null): Promise<StatusView> {
    return await waitFor('another daemon', async () => {
      const status = await this.status();
      return status.daemon.answers && status.daemon.pid !== pid ? status : null;
    });
  }
  async untilReady(name: string): Promise<void> {
    await waitFor(`${name} to be ready`, async () =>
      (await this.status()).components.some((one) => one.name === name && one.ready),
    );
  }
  async untilActive(word: string): Promise<void> {
    const ask = () => this.machine.run(this.dir, 'systemctl', '--user', 'is-active', UNIT);
    await waitFor(`the service to be ${word}`, async () => (await ask()).stdout.trim() === word);
  }
}

describe.skipIf(noMachine !== null)('under a real systemd', () => {
  test('a project with an odd path becomes a service, survives kill -9 and a power cut, and keeps its order', async () => {
    using disk = tempDir();
    const first = await Machine.boot(disk.path);
    const shop = new Shop(first, disk.at(`my $HOME 100%h "a" it's`), CHAIN);
    try {
      await shop.keepwell('up');
      await shop.keepwell('stop', 'off');
      const before = await shop.status();
      const runs = await shop.runs();

      const { stderr } = await shop.keepwell('service', 'install', '--user');
      expect(stderr).toContain('handing over to the service');
      await shop.untilActive('active');
      const served = await shop.status();
      expect(served.daemon.pid).not.toBe(before.daemon.pid);
      expect(served.daemon.guardian_pid).toBeNull();
      expect(await shop.runs()).toEqual(runs);
      expect((await shop.keepwell('service', 'status')).stdout).toMatch(
        /enabled: +enabled\nactive: +active\ndaemon: +run by this service\nfits: +yes/,
      );

      // A crash: systemd brings it back with what was applied, whatever was edited meanwhile.
      shop.configure(CHAIN.replace('echo db start', 'echo db changed'));
      await shop.run('kill', '-9', String(served.daemon.pid));
      await shop.daemonAfter(served.daemon.pid);
      expect(await shop.runs()).toEqual(runs);
      shop.configure(CHAIN);
      shop.forget();
    } finally {
      await first.cutPower();
    }

    await using second = await Machine.boot(disk.path);
    shop.machine = second;
    await shop.untilReady('web');
    expect(shop.diary).toEqual(IN_ORDER);
    const { components, daemon } = await shop.status();
    expect(daemon.guardian_pid).toBeNull();
    expect(components.map(({ name, state, restarts, adopted }) => [name, state, restarts, adopted])).toEqual([
      ['web', 'running', 0, false],
      ['api', 'running', 0, false],
      ['once', 'completed', 0, false],
      ['db', 'running', 0, false],
      ['off', 'stopped', 0, false],
    ]);

    shop.forget();
    await shop.systemctl('stop', UNIT);
    expect(shop.diary).toEqual(['web stop', 'api stop', 'db stop']);
    shop.forget();
    await shop.systemctl('start', UNIT);
    await shop.untilReady('web');
    // The job has completed in this boot already, so nobody waits for it.
    expect([...shop.diary].sort()).toEqual(['api start', 'db start', 'web start']);

    await shop.keepwell('service', 'uninstall');
    const { stdout } = await shop.keepwell('service', 'status');
    expect(stdout).toBe(`${UNIT} is not installed\ndaemon:    not running\n`);
    const { stdout: left } = await second.run('/', 'ps', '-e', '-o', 'args');
    expect(left).not.toMatch(/keepwell\.cjs|shim\.sh/);
  });

  test('for root it is a service of the machine, and runs as the owner of the project', async () => {
    using disk = tempDir();
    await using machine = await Machine.boot(disk.path);
    const shop = new Shop(machine, disk.at('shop'), CHAIN);
    chownSync(shop.dir, NOBODY, NOBODY);
    const place = '/etc/systemd/system';
    const aside = `mount -t tmpfs tmpfs ${place}`; // only seen in there
    await shop.run('sh', '-c', aside);
    // The systemd of this machine runs the services of a user only.
    const sudo = ['env', `SUDO_UID=${NOBODY}`, `SUDO_GID=${NOBODY}`, process.execPath, ENTRY];
    const { stdout } = await shop.run(...sudo, 'service', 'install');
    expect(stdout).toContain(`wrote ${place}/${UNIT}`);
    expect(stdout).toContain(`  systemctl enable --now ${UNIT}`);
    const { stdout: text } = await shop.run('cat', `${place}/${UNIT}`);
    expect(text).toMatch(/^User=nobody$/m);
    await shop.run('systemd-analyze', 'verify', '--man=no', `${place}/${UNIT}`);
    expect((await machine.run(shop.dir, ...sudo, 'service', 'install', '--user')).stderr).toContain(
      'keepwell service uninstall --system',
    );
    await shop.run(...sudo, 'service', 'uninstall');
    expect((await shop.run('ls', place)).stdout).toBe('');
    expect(existsSync(join(place, UNIT))).toBe(false);
  });

  test('systemctl reload applies the configuration, and fails when there is a mistake in it', async () => {
    using disk = tempDir();
    await using machine = await Machine.boot(disk.path);
    const config = (more = '') => `name: shop\ncomponents:\n  a: { process: { command: [sleep, "1000"] } }\n${more}`;
    const shop = new Shop(machine, disk.at('shop'), config());
    await shop.keepwell('service', 'install', '--user');
    await shop.untilReady('a');
    const runs = await shop.runs();
    shop.configure(config('  b: { proces: {} }\n'));
    expect((await machine.run(shop.dir, 'systemctl', '--user', 'reload', UNIT)).code).not.toBe(0);
    expect(await shop.runs()).toEqual(runs);
    shop.configure(config('  b: { process: { command: [sleep, "1000"] } }\n'));
    await shop.systemctl('reload', UNIT);
    await shop.untilReady('b');
    expect(await shop.runs()).toMatchObject(runs);
  });

  test('down ends it cleanly, up starts it through systemd again, and there is never a second daemon', async () => {
    using disk = tempDir();
    await using machine = await Machine.boot(disk.path);
    const shop = new Shop(
      machine,
      disk.at('shop'),
      'name: shop\ncomponents:\n  a: { process: { command: [sleep, "1000"] } }\n',
    );
    await shop.keepwell('service', 'install', '--user');
    await shop.untilReady('a');
    await shop.keepwell('down');
    await shop.untilActive('inactive');
    const { stderr } = await shop.keepwell('up');
    expect(stderr).toContain(`starting ${UNIT}`);
    await shop.untilActive('active');
    const { daemon } = await shop.status();
    expect(daemon.guardian_pid).toBeNull();

    // Somebody runs a daemon without the service: the service leaves it alone, and does not try for ever.
    await shop.systemctl('stop', UNIT);
    await shop.run(
      'sh',
      '-c',
      `mv "$HOME/.config" "$HOME/.aside"; "$0" "$1" up; mv "$HOME/.aside" "$HOME/.config"`,
      process.execPath,
      ENTRY,
    );
    const other = (await shop.status()).daemon;
    expect(other.guardian_pid).not.toBeNull();
    const runs = await shop.runs();
    await shop.systemctl('start', UNIT);
    await shop.untilActive('inactive');
    expect((await shop.status()).daemon.pid).toBe(other.pid);
    expect((await shop.keepwell('service', 'status')).stdout).toContain('run by a guardian');
    await shop.keepwell('service', 'install', '--user');
    await shop.untilActive('active');
    expect(await shop.runs()).toEqual(runs);
  });

  test('an upgraded package is picked up by up: systemd starts the new version, components go on', async () => {
    using disk = tempDir();
    using installed: BuiltVersion = builtVersion('0.0.8', { shimLine: 'as it was in 0.0.8' });
    await using machine = await Machine.boot(disk.path);
    const config = 'name: shop\ncomponents:\n  a: { process: { command: [sleep, "1000"] } }\n';
    const shop = new Shop(machine, disk.at('shop'), config, installed.entry);
    await shop.keepwell('service', 'install', '--user');
    await shop.untilReady('a');
    const runs = await shop.runs();
    expect((await shop.status()).daemon.version).toBe('0.0.8');

    writeVersion(installed.dir, '0.0.9');
    await shop.keepwell('up');
    const { daemon } = await shop.status();
    expect(daemon).toMatchObject({ version: '0.0.9', guardian_pid: null });
    await shop.untilActive('active');
    expect(await shop.runs()).toEqual(runs);
  });
});

test('a service that does not start leaves the daemon as it was, with its components', async () => {
  // A stand-in for systemctl: it says that systemd runs, and fails to start anything.
  using dir = tempDir();
  const script = '#!/bin/sh\ncase "$*" in *is-system-running*) echo running ;; *start*) echo no >&2; exit 1 ;; esac\n';
  writeFileSync(dir.at('systemctl'), script, { mode: 0o755 });
  await using project = new TestProject('name: shop\ncomponents:\n  a: { process: { command: [sleep, "1000"] } }\n');
  await project.ok('up');
  const { pid, run_id } = await project.component('a');
  const env = { PATH: `${dir.path}:${process.env['PATH']}`, HOME: dir.path, XDG_CONFIG_HOME: dir.at('config') };
  const { code, stderr } = await project.cliWith(env, 'service', 'install', '--user');
  expect(code).toBe(1);
  expect(stderr).toContain('starting the daemon as it was before');
  await project.answered();
  expect(project.guardianPid()).not.toBeNull();
  expect(await project.component('a')).toMatchObject({ pid, run_id, restarts: 0 });
});
