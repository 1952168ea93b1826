import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CliCall } from '../../../src/cli/call.ts';
import { findInstalled } from '../../../src/cli/service/place.ts';
import { unitText } from '../../../src/cli/service/unit.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { CliWorld } from './cli-world.ts';

const UNIT = 'keepwell-shop.service';

/**
 * A STAND-IN for systemctl: it writes down how it was called and answers as it is told. What the real one makes of the unit is
 * tested in test/e2e/service.test.ts.
 */
const STAND_IN = `#!/bin/sh
printf '%s\\n' "$*" >> "$0.calls"
case "$*" in
*is-system-running*) cat "$0.state" ;;
*is-enabled*) echo enabled ;;
*is-active*) echo active ;;
*start*) if [ -e "$0.broken" ]; then echo 'Job failed.' >&2; exit 1; fi; cp "$0.daemon.json" "$(cat "$0.home")/daemon.json" ;;
esac
`;

class ServiceWorld implements AsyncDisposable {
  readonly cli: CliWorld;
  readonly systemctl: string;
  readonly unit: string;

  constructor(cli: CliWorld, state: string) {
    this.cli = cli;
    const bin = cli.dir.at('bin');
    mkdirSync(bin);
    this.systemctl = join(bin, 'systemctl');
    writeFileSync(this.systemctl, STAND_IN, { mode: 0o755 });
    writeFileSync(`${this.systemctl}.state`, `${state}\n`);
    writeFileSync(`${this.systemctl}.home`, cli.home);
    writeFileSync(
      cli.dir.at('keepwell.yaml'),
      'name: shop\ncomponents:\n  api:\n    process: { command: [sleep, "1"] }\n',
    );
    cli.env = { PATH: `${bin}:${process.env['PATH']}`, HOME: cli.dir.at('home') };
    this.unit = cli.dir.at(`home/.config/systemd/user/${UNIT}`);
  }

  /** With a daemon that hands over, and one of the service that is there after `systemctl start`. */
  static async served(state = 'running'): Promise<ServiceWorld> {
    const world = new ServiceWorld(await CliWorld.served(), state);
    const file = JSON.parse(readFileSync(join(world.cli.home, 'daemon.json'), 'utf8')) as object;
    writeFileSync(`${world.systemctl}.daemon.json`, JSON.stringify({ ...file, service: UNIT }));
    return world;
  }

  get calls(): readonly string[] {
    const file = `${this.systemctl}.calls`;
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  }

  run(...args: readonly string[]) {
    return this.cli.run('service', ...args);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cli[Symbol.asyncDispose]();
  }
}

describe('install', () => {
  test('where systemd runs: the unit is written, enabled and started, and the daemon hands over', async () => {
    await using world = await ServiceWorld.served();
    const { code, out, err } = await world.run('install', '--user');
    expect(code).toBe(0);
    expect(out).toBe(`wrote ${world.unit}\n${UNIT} is enabled and runs; it starts with the login\n`);
    expect(err).toContain('handing over to the service (components go on)');
    expect(world.cli.served!.control.asked).toEqual([['handover']]);
    expect(world.calls).toEqual([
      ...['--user is-system-running', '--user daemon-reload', `--user enable ${UNIT}`, `--user start ${UNIT}`],
    ]);
    expect(readFileSync(world.unit, 'utf8')).toContain(`-f ${world.cli.dir.at('keepwell.yaml')} daemon`);
  });

  test('a second time changes nothing and restarts nothing', async () => {
    await using world = await ServiceWorld.served();
    await world.run('install', '--user');
    expect((await world.run('install', '--user')).code).toBe(0);
    expect(world.cli.served!.control.asked).toEqual([['handover']]);
    expect(world.calls.filter((call) => call.includes(' start '))).toHaveLength(1);
  });

  test.each(['offline', ''])(
    'where systemd does not run (%j) it is written, and the commands are told',
    async (state) => {
      await using world = new ServiceWorld(new CliWorld(), state);
      const { code, out } = await world.run('install', '--user');
      expect(code).toBe(0);
      expect(out).toContain(`  systemctl --user daemon-reload\n  systemctl --user enable --now ${UNIT}\n`);
      expect(existsSync(world.unit)).toBe(true);
      expect(world.calls).toEqual(['--user is-system-running']);
    },
  );

  test('without any systemctl too', async () => {
    await using world = new ServiceWorld(new CliWorld(), 'running');
    world.cli.env['PATH'] = '/nowhere';
    const { code, out } = await world.run('install', '--user', '-o', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ written: true, started: false, path: world.unit, unit: UNIT });
  });

  test('--print writes the unit to stdout and touches nothing', async () => {
    await using world = await ServiceWorld.served();
    const { code, out } = await world.run('install', '--user', '--print');
    expect(code).toBe(0);
    expect(out).toMatch(/^# Written by "keepwell service install"/);
    expect(existsSync(world.unit)).toBe(false);
    expect(world.calls).toEqual([]);
    expect(world.cli.served!.control.asked).toEqual([]);
  });

  test('a unit that somebody else wrote is left alone', async () => {
    await using world = await ServiceWorld.served();
    mkdirSync(join(world.unit, '..'), { recursive: true });
    const other = unitText({
      ...{ scope: 'user', unit: UNIT, project: 'shop', node: '/n', entry: '/k', files: ['/other/keepwell.yaml'] },
      ...{ dir: '/other', home: null, path: null, user: null, stopSeconds: 9 },
    });
    for (const [text, owner] of [
      ['[Service]\nExecStart=/bin/true\n', 'did not write it'],
      [other, 'it is for /other/keepwell.yaml'],
    ] as const) {
      writeFileSync(world.unit, text);
      for (const action of ['install', 'uninstall']) {
        const { code, err } = await world.run(action, '--user');
        expect(code).toBe(1);
        expect(err).toContain(owner);
        expect(readFileSync(world.unit, 'utf8')).toBe(text);
      }
    }
    expect(world.calls).toEqual([]);
  });

  test('a start that fails is told with what systemctl said', async () => {
    await using world = await ServiceWorld.served();
    writeFileSync(`${world.systemctl}.broken`, '');
    const { code, err } = await world.run('install', '--user');
    expect(code).toBe(1);
    expect(err).toContain(`"systemctl --user start ${UNIT}" failed: Job failed.`);
    expect(err).toContain(`journalctl -u ${UNIT}`);
  });

  test('mistakes in the configuration come first', async () => {
    await using world = await ServiceWorld.served();
    writeFileSync(world.cli.dir.at('keepwell.yaml'), 'components: { a: {} }\n');
    expect((await world.run('install', '--user')).code).toBe(2);
    expect(existsSync(world.unit)).toBe(false);
  });

  test('what the service will not see of this shell is told', async () => {
    await using world = await ServiceWorld.served();
    const config = (value: string) =>
      `name: shop\ncomponents:\n  api:\n    process: { command: [sleep, "1"], env: { LEVEL: "${value}" } }\n`;
    world.cli.env['LEVEL'] = 'debug';
    writeFileSync(world.cli.dir.at('keepwell.yaml'), config(`\${LEVEL:-info}`));
    expect((await world.run('install', '--user', '--print')).err).toContain('which changes: api');
    writeFileSync(world.cli.dir.at('keepwell.yaml'), config(`\${LEVEL}`));
    expect((await world.run('install', '--user', '--print')).err).toMatch(/would not start\..*LEVEL.*\.env/s);
    writeFileSync(world.cli.dir.at('.env'), 'LEVEL=debug\n');
    expect((await world.run('install', '--user', '--print')).err).not.toContain('LEVEL');
  });

  test('of the machine is for root only', async () => {
    await using world = await ServiceWorld.served();
    world.cli.uid = 1000;
    const { code, err } = await world.run('install', '--system');
    expect(code).toBe(1);
    expect(err).toContain('only be changed by root');
    expect((await world.run('install', '--system', '--print')).code).toBe(0);
  });

  test('on other systems it is refused with a reason', async () => {
    await using world = await ServiceWorld.served();
    world.cli.platform = 'darwin';
    for (const action of ['install', 'uninstall', 'status']) {
      const { code, err } = await world.run(action);
      expect(code).toBe(1);
      expect(err).toContain('this is darwin');
    }
  });
});

describe('uninstall', () => {
  test('stops, disables and removes', async () => {
    await using world = await ServiceWorld.served();
    await world.run('install', '--user');
    const { code, out } = await world.run('uninstall');
    expect(code).toBe(0);
    expect(out).toContain(`removed ${world.unit}`);
    expect(existsSync(world.unit)).toBe(false);
    expect(world.calls.slice(-2)).toEqual([`--user disable --now ${UNIT}`, '--user daemon-reload']);
  });

  test('of what is not there says so', async () => {
    await using world = await ServiceWorld.served();
    expect(await world.run('uninstall', '--user')).toMatchObject({ code: 0, out: `${UNIT} is not installed\n` });
  });
});

describe('status', () => {
  test('tells whether it is installed, enabled, active, and still fits', async () => {
    await using world = await ServiceWorld.served();
    expect((await world.run('status')).out).toBe(`${UNIT} is not installed\ndaemon:    not running\n`);
    await world.run('install', '--user');
    expect(JSON.parse((await world.run('status', '-o', 'json')).out)).toMatchObject({
      ...{ installed: true, scope: 'user', path: world.unit, enabled: 'enabled', active: 'active', fits: true },
    });
    world.cli.execPath = '/opt/new/node';
    const { code, out } = await world.run('status');
    expect(code).toBe(0);
    expect(out).toContain('fits:      no');
    expect(out).toMatch(/ExecStart\n +is +\/usr\/bin\/node .*\n +becomes +\/opt\/new\/node /);
  });
});

test('words that are not known, and options that do not fit', async () => {
  await using world = await ServiceWorld.served();
  expect((await world.run('instal')).err).toContain('Did you mean "install"?');
  for (const args of [['status', '--print'], ['install', '--user', '--system'], []]) {
    expect((await world.run(...args)).code).toBe(2);
  }
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
if (!hasAnalyze) {
  const said = 'the check of units by systemd-analyze: the package systemd is not installed';
  if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(said);
  console.warn(`SKIPPED: ${said}`);
}

describe.runIf(hasAnalyze)('systemd-analyze finds nothing wrong with a unit', () => {
  test.each(['plain', 'my shop', '100%h', '$HOME', 'a"b', "it's", 'a;b #c', 'a\\b', 'größe'])(
    'in a folder called %j',
    (name) => {
      using dir = tempDir();
      const odd = dir.at(name);
      mkdirSync(odd);
      symlinkSync(process.execPath, join(odd, 'node'));
      for (const file of ['keepwell.cjs', 'keepwell.yaml']) cpSync('package.json', join(odd, file));
      chmodSync(join(odd, 'keepwell.cjs'), 0o755);
      const unit = join(dir.path, UNIT);
      const text = unitText({
        ...{ scope: 'system', unit: UNIT, project: 'shop', node: join(odd, 'node'), entry: join(odd, 'keepwell.cjs') },
        ...{ files: [join(odd, 'keepwell.yaml')], dir: odd, home: odd, path: odd, user: 'daemon', stopSeconds: 30 },
      });
      writeFileSync(unit, text);
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
      expect({ status, stderr: stderr.split('\n').filter((line) => line.includes(UNIT)) }).toEqual({
        status: 0,
        stderr: [],
      });
    },
  );
});

test('a home that is not one has no service in it, and that is no reason to fail', () => {
  using dir = tempDir();
  writeFileSync(dir.at('file'), '');
  const world = { env: { HOME: dir.at('file') }, uid: 1000 } as unknown as CliCall['world'];
  const session = { world, project: { files: [dir.at('keepwell.yaml')], home: dir.at('.keepwell') } };
  expect(findInstalled(session as unknown as CliCall, 'no-such-project-anywhere', null)).toBeNull();
});
