/** The CLI in this process, against a served fake daemon or none, with everything it says kept. */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { World } from '../../../src/cli/call.ts';
import { Interrupted } from '../../../src/cli/interrupt.ts';
import { runCli } from '../../../src/cli/run.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { Served } from '../http/serve.ts';

export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export class CliWorld implements AsyncDisposable {
  readonly dir = tempDir();
  readonly home = this.dir.at('.keepwell');
  served: Served | null = null;
  out = '';
  err = '';
  isTty = false;
  env: Record<string, string> = {};
  execPath = '/usr/bin/node';
  platform = 'linux';
  uid = process.getuid?.() ?? 0;
  /** Where it is called. */
  cwd = this.dir.path;
  readonly abort = new AbortController();

  constructor() {
    mkdirSync(this.home);
    writeFileSync(this.dir.at('keepwell.yaml'), 'components:\n  api:\n    process: { command: [sleep, "1"] }\n');
  }

  /** With a daemon that answers. */
  static async served(): Promise<CliWorld> {
    const world = new CliWorld();
    world.served = await Served.open();
    world.pointAt(world.served.socket);
    return world;
  }

  /** What a daemon writes when it takes the project. The pid is one that never lives. */
  pointAt(socket: string, pid = 2 ** 22 + 1): void {
    const file = {
      pid,
      start_time: '0',
      boot_id: '',
      version: '0.1.0',
      started_at: '',
      socket,
      files: [],
      guardian_pid: null,
    };
    writeFileSync(this.dir.at('.keepwell/daemon.json'), JSON.stringify(file));
  }

  async run(...args: readonly string[]): Promise<Said> {
    this.out = '';
    this.err = '';
    const code = await runCli(args, this.#world());
    return { code, out: this.out, err: this.err };
  }

  ctrlC(): void {
    this.abort.abort(new Interrupted());
  }

  #world(): World {
    const terminal = (add: (text: string) => void) => ({ write: add, isTty: this.isTty, columns: 80, rows: 24 });
    return {
      cwd: this.cwd,
      env: this.env,
      uid: this.uid,
      entry: '/nowhere/keepwell.cjs',
      version: '0.1.0',
      node: '20.19.0',
      execPath: this.execPath,
      platform: this.platform,
      out: terminal((text) => {
        this.out += text;
      }),
      err: terminal((text) => {
        this.err += text;
      }),
      interrupt: () => this.abort.signal,
      inIsTty: false,
      interruptAgain: () => new AbortController().signal,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.served?.[Symbol.asyncDispose]();
    this.dir[Symbol.dispose]();
  }
}
