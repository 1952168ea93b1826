/**
 * A Podman of the test file's own, with a socket that speaks Docker's language. Where there can be none, the tests that want it are
 * skipped and say why; with KEEPWELL_REQUIRE_ALL=1 they fail.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { TestEngine } from './engine.ts';
import { waitFor } from './wait-for.ts';

const START_WITHIN_MS = 60_000;

/** Its usual limit of open files is more than a container may have everywhere. */
const CONFIG = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
`;

class Podman implements AsyncDisposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'keepwell-podman-'));
  readonly #env = { ...process.env, CONTAINERS_CONF: join(this.#dir, 'containers.conf') };
  #service: ChildProcess | null = null;

  get socketPath(): string {
    return join(this.#dir, 'podman.sock');
  }

  /** Throws, saying why, where it cannot. */
  async begin(): Promise<void> {
    writeFileSync(this.#env.CONTAINERS_CONF, CONFIG);
    this.#run('import', this.#image(), 'keepwell-test');
    this.#service = spawn('podman', [...this.#global, 'system', 'service', '--time=0', `unix://${this.socketPath}`], {
      env: this.#env,
      stdio: 'ignore',
    });
    const engine = new TestEngine(this.socketPath);
    await waitFor('Podman to answer', async () => (await engine.call('GET', '/_ping').catch(() => '')) === 'OK');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#service ?? {};
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await waitFor('nothing of it to be left', () => {
      const left = this.#left();
      for (const each of left) process.kill(each, 'SIGKILL');
      return left.length === 0;
    });
    rmSync(this.#dir, { recursive: true, force: true });
  }

  get #global(): readonly string[] {
    const place = [`--root=${this.#dir}/root`, `--runroot=${this.#dir}/run`, `--tmpdir=${this.#dir}/tmp`];
    return [...place, '--storage-driver=vfs', '--cgroup-manager=cgroupfs', '--events-backend=file'];
  }

  #run(...args: readonly string[]): void {
    const { status, stderr, error } = spawnSync('podman', [...this.#global, ...args], {
      env: this.#env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(error ? 'podman not installed here: apt install podman' : stderr);
  }

  /** Everything that busybox can do, as an archive. */
  #image(): string {
    const bin = join(this.#dir, 'image/bin');
    mkdirSync(bin, { recursive: true });
    const { stdout: programs } = spawnSync('busybox', ['--list'], { encoding: 'utf8' });
    copyFileSync(spawnSync('which', ['busybox'], { encoding: 'utf8' }).stdout.trim(), join(bin, 'busybox'));
    for (const name of programs.split('\n')) if (name && name !== 'busybox') symlinkSync('busybox', join(bin, name));
    const file = join(this.#dir, 'image.tar');
    spawnSync('tar', ['-C', join(this.#dir, 'image'), '-cf', file, '.']);
    return file;
  }

  /** Those who look after its containers name its directory in their arguments. */
  #left(): readonly number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${this.#dir}/`);
        } catch {
          return false; // gone meanwhile
        }
      })
      .map(Number);
  }
}

/** The Podman for the tests of one file; `skip` is theirs. */
export function usePodman(): (skip: (note: string) => never) => TestEngine {
  const podman = new Podman();
  let engine: TestEngine | null = null;
  let problem = '';
  beforeAll(async () => {
    try {
      if (process.getuid?.() !== 0) throw new Error('a private Podman needs root');
      await podman.begin();
      engine = new TestEngine(podman.socketPath);
    } catch (error) {
      problem = (error as Error).message;
    }
  }, START_WITHIN_MS);
  afterEach(() => engine?.clear());
  afterAll(() => podman[Symbol.asyncDispose](), START_WITHIN_MS);
  return (skip) => {
    if (engine) return engine;
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(problem);
    return skip(problem);
  };
}
