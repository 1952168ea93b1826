import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { guardianScript } from '../../../src/daemon/guardian.ts';
import { waitFor } from '../../support/wait-for.ts';

/** A stand-in for the daemon: says that it began, and answers --livez as the file `livez` says. */
const DAEMON = `cd "$(dirname "$0")"
if [ "$1" = --livez ]; then read -r code < livez; echo asked >> asks; exit "$code"; fi
trap 'exit 0' TERM
trap 'exit 3' USR1
echo $$ >> begun
while :; do sleep 0.1 & wait $!; done
`;

/** A user who runs nothing else: the kernel counts processes by user. */
const OTHER = ['setpriv', '--reuid=54329', '--regid=54329', '--clear-groups'];

let dir = '';
let guardian: ChildProcess | null = null;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'keepwell-guardian-'));
  chmodSync(dir, 0o777);
  write('guardian.sh', guardianScript({ everyS: 1, misses: 2, askEvery: 1_000 }));
  write('daemon.sh', DAEMON);
  write('livez', '0\n');
  write('daemon.json', '{}');
  for (const file of ['begun', 'asks', 'exit', 'err']) write(file, '');
});

afterEach(async () => {
  const group = guardian?.pid;
  if (group !== undefined && guardian?.exitCode === null) process.kill(-group, 'SIGKILL');
  await waitFor('nobody to be left', () => spawnSync('pgrep', ['-f', dir]).status === 1);
  rmSync(dir, { recursive: true, force: true });
});

const write = (name: string, text: string): void => {
  writeFileSync(join(dir, name), text, { mode: 0o666 });
  chmodSync(join(dir, name), 0o666);
};
const lines = (name: string): readonly string[] => readFileSync(join(dir, name), 'utf8').split('\n').filter(Boolean);
const begun = (): readonly number[] => lines('begun').map(Number);

function start(prefix: readonly string[] = [], watched: readonly string[] = ['-', '-']): ChildProcess {
  const at = (name: string): string => join(dir, name);
  const command = [
    ...prefix,
    '/bin/sh',
    at('guardian.sh'),
    ...watched,
    at('exit'),
    at('daemon.json'),
    '0',
    '/bin/sh',
    at('daemon.sh'),
  ];
  guardian = spawn(command[0]!, command.slice(1), { cwd: '/', detached: true, stdio: ['ignore', 'ignore', 'ignore'] });
  return guardian;
}

describe('the guardian', () => {
  test('starts a daemon that died again, and says when; one that ends cleanly ends it', async () => {
    const { pid } = start();
    await waitFor('the first one', () => begun().length === 1);
    process.kill(begun()[0]!, 'SIGUSR1');
    await waitFor('the second one, at once', () => begun().length === 2);
    process.kill(begun()[1]!, 'SIGKILL');
    const said = await waitFor('what it says', () =>
      /^137 (\d+) (\d+)$/m.exec(readFileSync(join(dir, 'exit'), 'utf8')),
    );
    expect(Number(said[1])).toBe(pid);
    await waitFor('the third one', () => begun().length === 3);
    process.kill(begun()[2]!, 'SIGTERM');
    await waitFor('its end', () => guardian?.exitCode === 0);
  });

  test('replaces a daemon that hangs', async () => {
    start();
    await waitFor('the first one', () => begun().length === 1);
    write('livez', '1\n');
    process.kill(begun()[0]!, 'SIGSTOP');
    await waitFor('the second one', () => begun().length === 2);
    expect(lines('asks').length).toBeGreaterThanOrEqual(2);
  });

  test('leaves a daemon alone that answers, or is not up yet, whatever it looks like from outside', async () => {
    start();
    await waitFor('the first one', () => begun().length === 1);
    process.kill(begun()[0]!, 'SIGSTOP');
    await waitFor('some questions', () => lines('asks').length >= 3);
    write('livez', '2\n');
    await waitFor('some more', () => lines('asks').length >= 6);
    expect(begun()).toHaveLength(1);
  });

  test('does not ask a daemon that comes to rest now and then', async () => {
    write('livez', '1\n');
    start();
    await waitFor('the first one', () => begun().length === 1);
    await waitFor('three looks', sinceNow(4_000));
    expect([lines('asks'), begun().length]).toEqual([[], 1]);
  });

  test('watches a daemon that another one had started, and replaces it when it dies or hangs', async () => {
    const other = spawn('/bin/sh', [join(dir, 'daemon.sh')], { stdio: 'ignore' });
    const [, born] = /\) (?:\S+ ){19}(\d+)/.exec(readFileSync(`/proc/${other.pid}/stat`, 'utf8'))!;
    start([], [String(other.pid), born!]);
    await waitFor('the first one', () => begun().length === 1);
    write('livez', '1\n');
    process.kill(other.pid!, 'SIGSTOP');
    await waitFor('the second one', () => begun().length === 2);
    write('livez', '0\n');
  });

  test.skipIf(process.getuid?.() !== 0)('survives that no process can be started', async () => {
    const limit = (processes: number): void => {
      const command = [...OTHER, 'prlimit', '--pid', `${guardian?.pid}`, `--nproc=${processes}:`];
      expect(String(spawnSync(command[0]!, command.slice(1)).stderr)).toBe('');
    };
    start(OTHER);
    await waitFor('the first one', () => begun().length === 1);
    limit(1);
    process.kill(begun()[0]!, 'SIGKILL');
    await waitFor('it to have begun anew', () => lines('exit').some((line) => line.startsWith('137 ')));
    const before = cpuMs(guardian!.pid!);
    await waitFor('some tries', sinceNow(5_000));
    // One try is a few milliseconds of work; without pauses it would be all of the time.
    expect(cpuMs(guardian!.pid!) - before).toBeLessThan(250);
    expect([begun().length, guardian?.exitCode]).toEqual([1, null]);
    limit(100);
    await waitFor('the second one', () => begun().length === 2);
  });

  test.skipIf(process.getuid?.() !== 0)(
    'keeps the daemon that it has when it cannot start who watches it',
    async () => {
      write('daemon.sh', `echo $$ >> ${join(dir, 'begun')}; exec sleep 1000\n`);
      start([...OTHER, 'prlimit', '--nproc=2:']); // for itself and the daemon
      await waitFor('the first one', () => begun().length === 1);
      await waitFor('some tries', sinceNow(5_000));
      expect([begun().length, guardian?.exitCode]).toEqual([1, null]);
      expect(cpuMs(guardian!.pid!)).toBeLessThan(250);
      expect(readFileSync(`/proc/${begun()[0]}/comm`, 'utf8')).toBe('sleep\n');
    },
  );
});

/** Of this process alone, through all programs that it becomes. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Looks happen once a second: that one of them would have done something can only be told by time. */
const sinceNow = (ms: number): (() => boolean) => {
  const began = performance.now();
  return () => performance.now() - began > ms;
};
