/**
 * A real Docker Engine for tests: the one that scripts/test.mjs started for the whole run and named in KEEPWELL_TEST_ENGINE, else
 * one of the test file's own. Where there can be none, the tests that want it are skipped and say why; with KEEPWELL_REQUIRE_ALL=1
 * they fail.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { waitFor } from './wait-for.ts';

/** The only image in it, made from busybox. */
const IMAGE = 'keepwell-test';
const KEEPER = resolve('test/support/engine-keeper.mjs');
/** dockerd begins within a second; on a machine that is busy, within some more. */
const START_WITHIN_MS = 60_000;

/** An Engine that belongs to whoever started it. */
export interface PrivateEngine extends AsyncDisposable {
  readonly socketPath: string;
  /** Of dockerd. */
  readonly pid: number;
  /** Ends dockerd alone. Resolves when it is gone. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  /** Begins it anew, with the same containers. Resolves when it answers. */
  begin(): Promise<void>;
}

export interface PrivateEngineOptions {
  /** Containers go on while dockerd is away. */
  readonly liveRestore?: boolean;
}

/** Throws, saying why, where no Engine can be started. */
export async function startEngine({ liveRestore = false }: PrivateEngineOptions = {}): Promise<PrivateEngine> {
  const args = liveRestore ? [KEEPER, '--live-restore'] : [KEEPER];
  // In a session of its own: an interrupt at the keyboard must not reach it before it has cleared everything away.
  const keeper = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(keeper.stdout)[Symbol.asyncIterator]();
  const answer = async (): Promise<Said> => {
    const { value, done } = await lines.next();
    const said: Said = done ? {} : JSON.parse(value);
    if (said.problem !== undefined || done) throw new Error(said.problem ?? 'no Docker Engine came up');
    return said;
  };
  const order = (line: string) => {
    keeper.stdin.write(`${line}\n`);
    return answer();
  };
  let said = await answer();
  return {
    socketPath: said.socketPath ?? '',
    get pid() {
      return said.pid ?? 0;
    },
    end: async (signal) => {
      await order(signal);
    },
    begin: async () => {
      said = await order('begin');
    },
    [Symbol.asyncDispose]: () => endOf(keeper),
  };
}

interface Said {
  readonly socketPath?: string;
  readonly pid?: number;
  readonly problem?: string;
}

async function endOf(keeper: ChildProcess): Promise<void> {
  if (keeper.exitCode !== null || keeper.signalCode !== null) return;
  const exit = once(keeper, 'exit');
  keeper.stdin?.end();
  await exit;
}

export interface ContainerOptions {
  readonly command: readonly string[];
  readonly memoryBytes?: number;
  readonly restartPolicy?: 'no' | 'always';
  /** NAME=VALUE. */
  readonly env?: readonly string[];
  /** Where memory is mounted. */
  readonly tmpfs?: readonly string[];
  /** How Docker keeps what it writes; absent: all of it. */
  readonly logOptions?: Readonly<Record<string, string>>;
}

/** A command that takes everything out of the image but its own program, the shell last, and then goes on. */
export const WITHOUT_SHELL: readonly string[] = [
  'sh',
  '-c',
  'cd /bin; for each in *; do case $each in busybox | sh) ;; *) busybox rm "$each" ;; esac; done; busybox rm sh; exec /bin/busybox sleep 300',
];

const WORD = '/go';
/** A command that waits to be told, then does what follows. */
export const whenTold = (then: string): readonly string[] => [
  'sh',
  '-c',
  `until test -e ${WORD}; do sleep 0.05; done; ${then}`,
];

/**
 * A command that is out of memory again and again, and ends as if killed for it at `starve`. Not a plain `tail /dev/zero`: the Engine
 * forgets the want of memory now and then when the container itself dies of it (4 of 100 on a busy machine, and for good). And not
 * once: it begins to listen when the container runs already, and what happens before that it never hears of.
 */
export const OUT_OF_MEMORY: Pick<ContainerOptions, 'command' | 'memoryBytes'> = {
  command: ['sh', '-c', 'trap "exit 137" USR1; while :; do tail /dev/zero; sleep 0.05; done'],
  memoryBytes: 16 * 2 ** 20,
};

/** What the Engine lists of a container. */
export interface ListedContainer {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
}

/** The few things that tests do with containers, spoken in plain HTTP and not by the client under test. */
export class TestEngine {
  readonly socketPath: string;
  readonly #names = new Set<string>();

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  /** A command as it has to be given to run in the Engine's network, where ports of containers are published. */
  inNetwork(command: readonly string[]): readonly string[] {
    const pid = readFileSync(join(dirname(this.socketPath), 'pid'), 'utf8').trim();
    return ['nsenter', '--target', pid, '--net', ...command];
  }

  /** What makes clients find it. */
  get env(): { readonly DOCKER_HOST: string } {
    return { DOCKER_HOST: `unix://${this.socketPath}` };
  }

  /** A name that nothing else in the Engine has. The container of that name goes with the test. */
  newName(): string {
    const name = `test-${process.pid}-${Math.random().toString(36).slice(2, 10)}`;
    this.#names.add(name);
    return name;
  }

  /** Returns the id. */
  async create(
    name: string,
    { command, memoryBytes = 0, restartPolicy = 'no', env = [], tmpfs = [], logOptions = {} }: ContainerOptions,
  ): Promise<string> {
    const made = await this.call('POST', `/containers/create?name=${name}`, {
      Image: IMAGE,
      Cmd: command,
      Env: env,
      HostConfig: {
        NetworkMode: 'none',
        Tmpfs: Object.fromEntries(tmpfs.map((path) => [path, ''])),
        Memory: memoryBytes,
        MemorySwap: memoryBytes,
        RestartPolicy: { Name: restartPolicy },
        LogConfig: { Type: 'json-file', Config: logOptions },
      },
    });
    return (JSON.parse(made) as { Id: string }).Id;
  }

  async run(options: ContainerOptions): Promise<string> {
    const name = this.newName();
    await this.create(name, options);
    await this.act(name, 'start');
    return name;
  }

  /** start, `stop?t=0`, kill, pause, unpause, … */
  async act(name: string, action: string): Promise<void> {
    await this.call('POST', `/containers/${name}/${action}`);
  }

  /** Makes a file in it, for which its command waits: see `whenTold`. */
  async tell(name: string): Promise<void> {
    const made = await this.call('POST', `/containers/${name}/exec`, { Cmd: ['touch', WORD] });
    const { Id } = JSON.parse(made) as { Id: string };
    await this.call('POST', `/exec/${Id}/start`, { Detach: true });
  }

  /** Ends a container of `OUT_OF_MEMORY` once the Engine has noticed what it wants. By a signal: a command in it might be what the kernel kills. */
  async starve(name: string): Promise<void> {
    const filters = JSON.stringify({ container: [name], event: ['oom'] });
    await waitFor('the Engine to notice the want of memory', async () => {
      const until = Math.ceil(Date.now() / 1000);
      return (await this.call('GET', `/events?since=1&until=${until}&filters=${encodeURIComponent(filters)}`)) !== '';
    });
    await this.act(name, 'kill?signal=USR1');
    await this.act(name, 'wait');
  }

  async remove(name: string): Promise<void> {
    await this.call('DELETE', `/containers/${name}?force=1&v=1`).catch((error: Error) => {
      if (!/no such container/i.test(error.message)) throw error;
    });
  }

  /**
   * The containers with all these labels (`key=value`), running or not. There is none without: other tests have theirs in the same
   * Engine.
   */
  async labelled(...label: readonly [string, ...string[]]): Promise<readonly ListedContainer[]> {
    const filters = encodeURIComponent(JSON.stringify({ label }));
    return JSON.parse(await this.call('GET', `/containers/json?all=1&filters=${filters}`)) as ListedContainer[];
  }

  async clear(): Promise<void> {
    for (const name of this.#names) await this.remove(name);
    this.#names.clear();
  }

  call(method: string, path: string, body?: unknown): Promise<string> {
    const { socketPath } = this;
    const headers = { 'Content-Type': 'application/json' };
    return new Promise((done, fail) => {
      const asked = request({ socketPath, method, path, headers, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('error', fail);
        answer.on('end', () => ((answer.statusCode ?? 500) < 400 ? done(text) : fail(new Error(`${path}: ${text}`))));
      });
      asked.on('error', fail);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** The Engine for the tests of one file; `skip` is theirs. */
export function useEngine(): (skip: (note: string) => never) => TestEngine {
  let own: PrivateEngine | null = null;
  let engine: TestEngine | null = null;
  let problem = '';
  beforeAll(async () => {
    try {
      const shared = process.env['KEEPWELL_TEST_ENGINE'];
      if (!shared) own = await startEngine();
      engine = new TestEngine(shared || (own?.socketPath ?? ''));
    } catch (error) {
      problem = (error as Error).message;
    }
  }, START_WITHIN_MS);
  afterEach(() => engine?.clear());
  afterAll(() => own?.[Symbol.asyncDispose]());
  return (skip) => {
    if (engine) return engine;
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(problem);
    return skip(problem);
  };
}
