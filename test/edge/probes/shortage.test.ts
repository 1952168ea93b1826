import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { createCommandRunner } from '../../../src/drivers/process/command-runner.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { run } from '../store/program.ts';
import { carriers, finallyDo, listen, newMark } from './probe-world.ts';

let program: Bundle;
beforeAll(async () => {
  program = await bundle('test/fixtures/probes/shortage.ts');
});
afterAll(() => program.remove());

test.each(['auto', 'off'] as const)(
  'without a file descriptor nothing is concluded, and nothing is left (cgroups %s)',
  async (cgroup) => {
    using dir = tempDir();
    const { port } = await listen(createServer((_, response) => response.end()));
    const mark = newMark();
    // Should it be killed half way, the next runner of its home ends what it left.
    const options = { home: dir.path, cgroup, log: silentLog, softNofile: null, clock: systemClock } as const;
    finallyDo(() => createCommandRunner(options).close());
    const limited = 'ulimit -n 60; exec "$@"';
    const args = [process.execPath, program.path, dir.path, cgroup, String(port), mark];
    using asking = run(['/bin/sh', '-c', limited, 'sh', ...args]);
    await asking.said('{"what":"exec after"');
    const answers = asking.lines.map((line) => JSON.parse(line) as { what: string; outcome: string; message: string });
    expect(Object.fromEntries(answers.map(({ what, outcome }) => [what, outcome]))).toEqual({
      before: 'pass',
      http: 'inconclusive',
      'http by localhost': 'inconclusive',
      tcp: 'inconclusive',
      'tcp by name': 'inconclusive',
      exec: 'inconclusive',
      hanging: 'fail',
      'http after': 'pass',
      'exec after': 'pass',
    });
    expect(answers.find(({ what }) => what === 'tcp')?.message).toBe('too many files are open (EMFILE)');
    await waitFor('what was killed without a descriptor to be gone', () => carriers(mark).length === 0);
    asking.tell('enough');
    expect(await asking.ended).toMatchObject({ code: 0, stderr: '' });
  },
);
