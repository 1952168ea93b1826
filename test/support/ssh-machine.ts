/**
 * "Another machine": a real sshd of Debian on loopback, with a key, a port and users' keys of its own in a temporary directory. Nothing
 * of ~/.ssh and /etc/ssh is read or written: the `ssh` that is first in its PATH takes its own configuration.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { tempDir } from './temp-dir.ts';
import { waitFor } from './wait-for.ts';

const SSHD = '/usr/sbin/sshd';

/** Why tests with it cannot run; null: they can. */
export const withoutSshd = existsSync(SSHD) ? null : 'openssh-server is not installed';
if (withoutSshd !== null) console.error(`SKIPPED: ${withoutSshd}`);

/** One user at one place: the keys, the programs and the connections of all tests in a file. */
export class SshUser implements AsyncDisposable {
  readonly #dir = tempDir();
  readonly #machines: SshMachine[] = [];

  constructor() {
    for (const name of ['bin', 'run', 'config', 'config/keepwell']) mkdirSync(this.#dir.at(name), { mode: 0o700 });
    for (const name of ['key', 'stranger']) keyPair(this.#dir.at(name));
    writeFileSync(
      this.#dir.at('bin/ssh'),
      `#!/bin/sh\nexec /usr/bin/ssh -F "\${TEST_SSH_CONFIG:-${this.#dir.at('ssh_config')}}" "$@"\n`,
      { mode: 0o755 },
    );
    this.config('ssh_config', {});
    writeFileSync(this.#dir.at('known_hosts'), '');
  }

  /** A configuration of ssh; its path. */
  config(name: string, { key = 'key', knownHosts = 'known_hosts' }: { key?: string; knownHosts?: string }): string {
    const lines = [`IdentityFile ${this.#dir.at(key)}`, 'IdentitiesOnly yes', 'GlobalKnownHostsFile /dev/null'];
    writeFileSync(this.#dir.at(name), `${lines.join('\n')}\nUserKnownHostsFile ${this.#dir.at(knownHosts)}\n`);
    return this.#dir.at(name);
  }
  at(name: string): string {
    return this.#dir.at(name);
  }
  get runDir(): string {
    return this.#dir.at('run');
  }
  get env(): Record<string, string> {
    return {
      PATH: `${this.#dir.at('bin')}:${process.env['PATH']}`,
      XDG_RUNTIME_DIR: this.runDir,
      XDG_CONFIG_HOME: this.#dir.at('config'),
    };
  }
  hosts(hosts: Readonly<Record<string, string>>): void {
    const lines = Object.entries(hosts).map(([name, url]) => `  ${name}: ${url}`);
    writeFileSync(this.#dir.at('config/keepwell/hosts.yaml'), ['hosts:', ...lines, ''].join('\n'));
  }

  /** Starts another machine, known to the user. */
  async machine(settings: readonly string[] = []): Promise<SshMachine> {
    const machine = await SshMachine.start(join(this.#dir.path, `machine-${this.#machines.length}`), this, settings);
    this.#machines.push(machine);
    writeFileSync(this.#dir.at('known_hosts'), `${machine.knownAs}\n`, { flag: 'a' });
    return machine;
  }

  /** The processes of ssh that hold a connection. */
  holders(): number[] {
    return processesWith(`ssh: ${this.runDir}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const machine of this.#machines) await machine.end();
    for (const pid of this.holders()) kill(pid, 'SIGKILL');
    await waitFor('every ssh to be gone', () => processesWith(this.#dir.path).length === 0);
    rmSync(this.#dir.path, { recursive: true, force: true });
  }
}

export class SshMachine {
  readonly #sshd: ChildProcess;
  readonly #port: number;
  /** Its line in a file of known hosts. */
  readonly knownAs: string;

  private constructor(sshd: ChildProcess, port: number, knownAs: string) {
    this.#sshd = sshd;
    this.#port = port;
    this.knownAs = knownAs;
  }

  static async start(dir: string, user: SshUser, settings: readonly string[]): Promise<SshMachine> {
    mkdirSync(dir, { mode: 0o700 });
    if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 }); // sshd insists on it
    keyPair(join(dir, 'host_key'));
    const port = await freePort();
    const lines = [
      ...[`Port ${port}`, 'ListenAddress 127.0.0.1', `HostKey ${dir}/host_key`, 'PidFile none', 'UsePAM no'],
      ...[`AuthorizedKeysFile ${user.at('key.pub')}`, 'StrictModes no', 'PermitRootLogin yes'],
      ...['PasswordAuthentication no', 'KbdInteractiveAuthentication no', 'MaxStartups 100', ...settings],
    ];
    writeFileSync(join(dir, 'sshd_config'), `${lines.join('\n')}\n`);
    const sshd = spawn(SSHD, ['-D', '-e', '-f', join(dir, 'sshd_config')], { stdio: 'ignore' });
    await waitFor('sshd to listen', () => canConnect(port));
    const [kind, key] = readFileSync(join(dir, 'host_key.pub'), 'utf8').split(' ');
    return new SshMachine(sshd, port, `[127.0.0.1]:${port} ${kind} ${key}`);
  }

  url(path = ''): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.#port}${path.split('/').map(encodeURIComponent).join('/')}`;
  }

  /** It, and what it has started for its connections. */
  #processes(): number[] {
    const parents = new Map(allPids().map((pid) => [pid, parentOf(pid)]));
    const isOurs = (pid: number | null): boolean =>
      pid !== null && pid > 1 && (pid === this.#sshd.pid || isOurs(parents.get(pid) ?? null));
    return [...parents.keys()].filter(isOurs);
  }
  freeze(): void {
    for (const pid of this.#processes()) kill(pid, 'SIGSTOP');
  }
  thaw(): void {
    for (const pid of this.#processes()) kill(pid, 'SIGCONT');
  }

  async end(): Promise<void> {
    const all = this.#processes();
    for (const pid of all) kill(pid, 'SIGKILL');
    await waitFor('sshd to be gone', () => all.every((pid) => parentOf(pid) === null));
  }
}

function keyPair(file: string): void {
  const made = spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', file]);
  if (made.status !== 0) throw new Error(`ssh-keygen: ${made.stderr}`);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it has just ended
  }
}

const allPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Null: it is gone, or a zombie. */
function parentOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? null : Number(parent);
  } catch {
    return null;
  }
}

function processesWith(words: string): number[] {
  return allPids().filter((pid) => {
    try {
      return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(words);
    } catch {
      return false;
    }
  });
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
