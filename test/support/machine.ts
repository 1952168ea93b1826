/**
 * A machine of its own inside this one: own processes, own boot id, own /run, and a real systemd that runs the services of a user.
 * Power can be cut at any moment. Needs root and the package systemd; where it cannot be had, tests are skipped and say why.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CliResult } from './project.ts';
import { waitFor } from './wait-for.ts';

const SYSTEMD = '/lib/systemd/systemd';

/** $1: the boot id, $2…: cgroups to live in. What is mounted here is only seen in here. */
const INIT = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
mount --bind "$1" /proc/sys/kernel/random/boot_id
shift
for cgroup; do printf 0 > "$cgroup/cgroup.procs"; done
${SYSTEMD} --user --log-target=console --log-level=warning &
while :; do sleep 1000 & wait $!; done
`;

/** $1: the directory, then: cgroups, --, the command. */
const ENTER = `cd "$1"; shift
while [ "$1" != -- ]; do printf 0 > "$1/cgroup.procs"; shift; done
shift; exec "$@"
`;

export class Machine implements AsyncDisposable {
  readonly #init: ChildProcess;
  readonly #pid: number;
  readonly #cgroups: readonly string[];
  readonly #env: NodeJS.ProcessEnv;

  private constructor(init: ChildProcess, pid: number, cgroups: readonly string[], env: NodeJS.ProcessEnv) {
    this.#init = init;
    this.#pid = pid;
    this.#cgroups = cgroups;
    this.#env = env;
  }

  /** `dir` is its disk: what is in there is there again after the next boot. */
  static async boot(dir: string): Promise<Machine> {
    const name = `keepwell-test-${randomUUID()}`; // the same everywhere: systemd uses the name in one tree for the others
    const cgroups = cgroupMounts().map((mount) => join(mount, name));
    for (const path of cgroups) mkdirSync(path);
    const env = {
      ...{ PATH: process.env['PATH'], HOME: join(dir, 'home'), USER: 'root', LANG: 'C.UTF-8' },
      XDG_RUNTIME_DIR: join(dir, `run-${randomUUID()}`),
    };
    mkdirSync(env.HOME, { recursive: true });
    mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
    writeFileSync(join(dir, 'boot-id'), `${randomUUID()}\n`);
    const own = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const init = spawn('unshare', [...own, 'sh', '-c', INIT, 'init', join(dir, 'boot-id'), ...cgroups], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    init.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const over = new Promise<never>((_, reject) => {
      init.once('exit', (code) => reject(new Error(`the machine did not boot (${code}): ${said}`)));
    });
    over.catch(() => {});
    const pid = await Promise.race([waitFor('its first process', () => childOf(init.pid!)), over]);
    const machine = new Machine(init, pid, cgroups, env);
    const running = () => machine.run('/', 'systemctl', '--user', 'is-system-running');
    await Promise.race([waitFor('its systemd', async () => /running|degraded/.test((await running()).stdout)), over]);
    return machine;
  }

  run(cwd: string, ...command: readonly string[]): Promise<CliResult> {
    const enter = ['--target', String(this.#pid), '--mount', '--pid', '--', 'sh', '-c', ENTER, 'sh', cwd];
    const child = spawn('nsenter', [...enter, ...this.#cgroups, '--', ...command], {
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    return new Promise((done) => child.once('close', (code) => done({ code, stdout, stderr })));
  }

  /** Everything in it is gone at once, as when somebody pulls the plug. */
  async cutPower(): Promise<void> {
    const gone = this.#init.exitCode !== null || this.#init.signalCode !== null;
    const end = gone ? Promise.resolve() : new Promise<void>((done) => this.#init.once('exit', () => done()));
    this.#init.kill('SIGKILL');
    await end;
    for (const path of this.#cgroups) await waitFor(`${path} to be empty`, () => removed(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cutPower();
  }
}

function childOf(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]) || null;
  } catch {
    return null;
  }
}

/** Where systemd keeps its tree (version 1 or 2), and where runs have theirs (version 2): as deep in there as we are ourselves. */
function cgroupMounts(): readonly string[] {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const own = readFileSync('/proc/self/cgroup', 'utf8');
  const wanted = [
    { own: /^0::(.*)$/m, isIt: (type?: string) => type === 'cgroup2' },
    {
      own: /^\d+:name=systemd:(.*)$/m,
      isIt: (type?: string, how?: string) => type === 'cgroup' && /name=systemd/.test(how ?? ''),
    },
  ];
  return wanted.flatMap(({ own: pattern, isIt }) => {
    const mount = mounts.find(([, , type, how]) => isIt(type, how))?.[1];
    const inside = pattern.exec(own)?.[1];
    return mount === undefined || inside === undefined ? [] : [join(mount, inside)];
  });
}

function removed(path: string): boolean {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory()) removed(join(path, entry.name));
    rmdirSync(path);
  } catch {
    // still somebody in it
  }
  return !existsSync(path);
}

/** Null: it can be had. */
export const noMachine: string | null = (() => {
  if (process.getuid?.() !== 0) return 'only root can make one';
  if (!existsSync(SYSTEMD)) return 'the package systemd is not installed';
  const works = spawnSync('unshare', ['--mount', '--pid', '--fork', '--mount-proc', 'true']).status === 0;
  return works ? null : 'namespaces cannot be made here';
})();

if (noMachine !== null) {
  const said = `tests with a machine of their own: ${noMachine}`;
  if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(said);
  console.warn(`SKIPPED: ${said}`);
}
