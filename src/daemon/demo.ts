/** `keepwell demo`: a small stack on embedded defaults, broken before your eyes and put right again. Leaves nothing behind. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ComponentView, StatusView } from '../core/views.ts';
import type { Environment } from './launch-run.ts';

export interface DemoOptions {
  readonly env: Environment;
  /** The CLI bundle: the demo uses the product the way everybody does. */
  readonly entry: string;
  /** Leave the stack up at the end. */
  readonly keep: boolean;
  write(text: string): void;
}

const CONFIG = `# The stack of "keepwell demo": three processes, started in order.
name: demo
components:
  database:
    process: { command: "while :; do echo database: checkpoint; sleep 1; done", shell: true }
  api:
    process: { command: "echo api: listening; while :; do sleep 1; done", shell: true }
    depends_on: { database: ready }
  worker:
    process:
      shell: true
      command: |
        echo "worker: 12 jobs in the queue"
        while :; do sleep 1; done
    depends_on: { api: ready }
    restart: { backoff: { initial: 500ms } }
`;

const LIMIT_MS = 20_000;

export async function runDemo(options: DemoOptions): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-demo-'));
  const demo = new Demo(options, dir);
  const stop = () => demo.end();
  process.once('SIGINT', stop);
  try {
    await demo.play();
    return 0;
  } catch (error) {
    options.write(`\nThe demo did not go as planned: ${(error as Error).message}\n`);
    return 1;
  } finally {
    process.off('SIGINT', stop);
    if (options.keep)
      options.write(`\nThe stack is still up. Look at it with:  keepwell -f ${join(dir, 'keepwell.yaml')} status\n`);
    else demo.end();
  }
}

class Demo {
  readonly #options: DemoOptions;
  readonly #dir: string;
  readonly #began = performance.now();

  constructor(options: DemoOptions, dir: string) {
    this.#options = options;
    this.#dir = dir;
    writeFileSync(join(dir, 'keepwell.yaml'), CONFIG);
  }

  async play(): Promise<void> {
    const { write } = this.#options;
    this.#say('1. Three processes, started in dependency order');
    this.#must('up');
    write(this.#must('status').stdout);

    this.#say('2. The worker is killed with kill -9');
    const worker = this.#component('worker');
    process.kill(worker.pid!, 'SIGKILL');
    const again = await this.#until('the worker to be back', () => {
      const now = this.#component('worker');
      return now.state === 'running' && now.pid !== worker.pid ? now : null;
    });
    write(`   pid ${worker.pid} died, pid ${again.pid} took its place (restarts: ${again.restarts})\n`);

    this.#say('3. The supervisor itself is killed with kill -9');
    const before = this.#status();
    process.kill(before.daemon.pid!, 'SIGKILL');
    const after = await this.#until('the daemon to be back', () => {
      const now = this.#status();
      return now.daemon.answers && now.daemon.pid !== before.daemon.pid ? now : null;
    });
    write(`   daemon ${before.daemon.pid} died, daemon ${after.daemon.pid} came back and adopted everything:\n`);
    for (const { name, pid, adopted } of after.components) {
      const same = before.components.find((component) => component.name === name)?.pid === pid;
      if (!same || !adopted) throw new Error(`${name} was restarted, which must never happen`);
      write(`   ${name.padEnd(9)} still pid ${pid}, not restarted\n`);
    }

    this.#say('4. Why did the worker die?');
    write(this.#must('why', 'worker').stdout);
    const seconds = ((performance.now() - this.#began) / 1_000).toFixed(1);
    this.#say(
      `Done in ${seconds} s: 1 crash explained and healed, 1 dead supervisor replaced, 0 components disturbed by it`,
    );
  }

  /** Everything the demo made is gone afterwards. */
  end(): void {
    this.#run('down');
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #say(text: string): void {
    this.#options.write(`\n▸ ${text}\n`);
  }

  #run(...args: readonly string[]) {
    const { KEEPWELL_HOME: _, ...env } = this.#options.env;
    const argv = [this.#options.entry, '-f', join(this.#dir, 'keepwell.yaml'), ...args];
    return spawnSync(process.execPath, argv, { env, encoding: 'utf8', timeout: LIMIT_MS });
  }

  #must(...args: readonly string[]) {
    const result = this.#run(...args);
    if (result.status !== 0)
      throw new Error(`"keepwell ${args.join(' ')}" ended with ${result.status}: ${result.stderr}`);
    return result;
  }

  #status(): StatusView {
    return JSON.parse(this.#must('-o', 'json', 'status').stdout) as StatusView;
  }

  #component(name: string): ComponentView {
    const found = this.#status().components.find((component) => component.name === name);
    if (!found) throw new Error(`there is no ${name}`);
    return found;
  }

  async #until<T>(what: string, look: () => T | null): Promise<T> {
    for (const until = performance.now() + LIMIT_MS; performance.now() < until; await sleep(100)) {
      const seen = look();
      if (seen !== null) return seen;
    }
    throw new Error(`waited in vain for ${what}`);
  }
}
