/** What may hang: command line programs, and questions to GPUs. */

import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BoundedOutput } from '../../../src/base/bounded-output.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { call } from '../../../src/compose/cli/call.ts';
import { detect } from '../../../src/compose/cli/project.ts';
import { createGpuAsker } from '../../../src/compose/gpu.ts';
import { NVIDIA_SMI, OLD_NVIDIA_SMI } from '../../../src/compose/rules/gpu.ts';
import { killMarked } from '../../../src/docker/exec/exec.ts';
import type { ContainerState, EngineClient, ExecResult } from '../../../src/docker/ports.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

const forever = new AbortController().signal;
const parts = { clock: systemClock, env: process.env, endMarked: killMarked };

function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

test('a program that hangs is ended at its deadline, with what left its process group', async () => {
  using dir = tempDir();
  program(dir.at('compose'), `echo begun >&2; setsid sleep 1000000 & echo $! >${dir.at('pid')}; wait`);
  const asked = { command: [dir.at('compose')], cwd: dir.path, timeoutMs: 1_500 };
  expect(await call(parts, asked, forever)).toEqual({ kind: 'timed-out', stderr: 'begun\n' });
  const pid = readFileSync(dir.at('pid'), 'utf8').trim();
  await waitFor('the end of what it left', () => !existsSync(`/proc/${pid}`));
});

test('a Docker Compose that prints its usage and exits with 0 is none', async () => {
  using dir = tempDir();
  program(dir.at('docker'), 'echo "Usage:  docker [OPTIONS] COMMAND"; exit 0');
  program(dir.at('docker-compose'), 'echo "it is broken" >&2; exit 1');
  const env = { PATH: dir.path };
  expect(await detect({ ...parts, env }, forever)).toEqual({
    kind: 'missing',
    why: '"docker compose" is not there (exit 0), "docker-compose" is not there (it is broken)',
  });
  program(dir.at('docker-compose'), 'echo 1.29.2');
  expect(await detect({ ...parts, env }, forever)).toMatchObject({ compose: { command: ['docker-compose'] } });
});

const container = { id: 'c', startedAt: 'then' } as ContainerState;
/** An Engine in which commands end as they are told. */
function answering(answer: (command: readonly string[], signal: AbortSignal) => ExecResult | Promise<ExecResult>) {
  const asked: (readonly string[])[] = [];
  const engine = {
    exec: (_: string, command: readonly string[], signal: AbortSignal) => {
      asked.push(command);
      return Promise.resolve(answer(command, signal));
    },
  } as unknown as EngineClient;
  return { asked, asker: createGpuAsker({ engine, clock: systemClock, command: null }) };
}
const NOT_THERE: ExecResult = { kind: 'not-started', why: 'exec: "x": executable file not found in $PATH' };

test('where nothing tells of GPUs, that is found out once', async () => {
  const { asked, asker } = answering(() => NOT_THERE);
  expect(await asker.ask(container, forever)).toEqual({ kind: 'none' });
  expect(asked.map(([first]) => first)).toEqual(['nvidia-smi', 'python3']);
  expect(await asker.ask(container, forever)).toEqual({ kind: 'none' });
  expect(asked).toHaveLength(2);
  await asker.ask({ ...container, startedAt: 'later' }, forever);
  expect(asked).toHaveLength(4);
});

test('an old nvidia-smi is asked for less', async () => {
  const { asked, asker } = answering((command) =>
    command === NVIDIA_SMI
      ? { kind: 'exited', code: 2, output: 'Field "remapped_rows.pending" is not a valid field to query.' }
      : { kind: 'exited', code: 0, output: '0, GPU-a, 100, 1\n' },
  );
  expect(await asker.ask(container, forever)).toMatchObject({ kind: 'read', gpus: [{ index: 0 }] });
  expect(asked).toEqual([NVIDIA_SMI, OLD_NVIDIA_SMI]);
});

test('one that hangs for good is not asked again, and never two at once', async () => {
  let hangUp = (_: ExecResult): void => {};
  const { asked, asker } = answering(
    () =>
      new Promise((resolve) => {
        hangUp = resolve;
      }),
  );
  const both = [asker.ask(container, forever), asker.ask(container, forever)];
  await waitFor('the question', () => asked.length > 0);
  hangUp({ kind: 'called-off', left: 'its process 7 is still there' });
  for (const reading of await Promise.all(both)) expect(reading).toMatchObject({ kind: 'fault', remedy: 'restart' });
  expect(await asker.ask(container, forever)).toMatchObject({
    kind: 'fault',
    why: expect.stringContaining('its process 7 is still there'),
  });
  expect(asked).toHaveLength(1);
});

test('of a long output the beginning and the end are kept', () => {
  const kept = new BoundedOutput(4, 4);
  for (const piece of ['ab', 'cdef', 'ghij', 'kl']) kept.add(Buffer.from(piece));
  expect(kept.text()).toBe('abcd\n[… 4 bytes left out …]\nijkl');
  const whole = new BoundedOutput(4, 4);
  whole.add(Buffer.from('abc€f'));
  expect(whole.text()).toBe('abc€f');
});
