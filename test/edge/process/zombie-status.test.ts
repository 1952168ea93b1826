/** The kernel shows the status 0 of a zombie to those who may not trace it, and that is also the status of a good end. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findTools } from '../../../src/drivers/process/shim/tools.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { waitFor } from '../../support/wait-for.ts';

let program: Bundle;
beforeAll(async () => {
  program = await bundle('test/fixtures/process/zombie.ts');
});
afterAll(() => program.remove());

const AS_OTHER = ['--reuid=54331', '--regid=54331', '--clear-groups'];
const WITHOUT_TRACING = ['--bounding-set=-sys_ptrace'];

test('of a zombie of another user, root without the right to trace knows that it knows nothing', async ({ skip }) => {
  if (process.getuid?.() !== 0 || findTools().setpriv === null) skip('only root can become another user');
  // A shell would ask how its child ended; a sleep never does, so the child waits until its parent is one.
  const child = 'while read -r name </proc/$PPID/comm && [ "$name" != sleep ]; do :; done; exit 3';
  const script = `sh -c '${child}' & echo $!; exec sleep 1000`;
  const parent = spawn('setpriv', [...AS_OTHER, 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    let said = '';
    parent.stdout.on('data', (text) => {
      said += String(text);
    });
    const pid = await waitFor('a zombie', () => {
      const found = /^\d+\n/.exec(said)?.[0].trim();
      return found !== undefined && readFileSync(`/proc/${found}/stat`, 'utf8').includes(') Z ') ? found : null;
    });
    const seenWith = (...rights: readonly string[]): unknown => {
      const { stdout, stderr } = spawnSync('setpriv', [...rights, process.execPath, program.path, pid]);
      expect(String(stderr)).toBe('');
      return JSON.parse(String(stdout));
    };
    expect(seenWith()).toEqual({ status: 3 << 8, believable: true });
    expect(seenWith(...WITHOUT_TRACING)).toEqual({ status: 0, believable: false });
  } finally {
    parent.kill('SIGKILL');
  }
});
