/** What is different with Podman, asked of a real one. */
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createEngine } from '../../../src/docker/engine.ts';
import { usePodman } from '../../support/podman.ts';

const need = usePodman();
const never = new AbortController().signal;

test('a command that ran has its exit code, although Podman forgets its process; one that is not there was not started', async ({
  skip,
}) => {
  const podman = need(skip);
  const name = await podman.run({ command: ['sleep', '300'] });
  const engine = createEngine({ env: podman.env, clock: systemClock });
  const exec = (...command: readonly string[]) => engine.exec(name, command, never);
  expect(await exec('true')).toEqual({ kind: 'exited', code: 0, output: '' });
  expect(await exec('sh', '-c', 'echo it is sick; exit 5')).toEqual({
    kind: 'exited',
    code: 5,
    output: 'it is sick\n',
  });
  expect(await exec('sh', '-c', 'nothing-of-that-name')).toMatchObject({ kind: 'exited', code: 127 });
  expect(await exec('nothing-of-that-name')).toMatchObject({
    kind: 'not-started',
    why: expect.stringContaining('executable file not found'),
  });
  expect(await exec('/')).toMatchObject({ kind: 'not-started', why: expect.stringContaining('permission denied') });
});
