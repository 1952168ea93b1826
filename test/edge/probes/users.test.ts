/** Exec probes of components that run as somebody else. */

import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, type TestContext, test } from 'vitest';
import { findTools } from '../../../src/drivers/process/shim/tools.ts';
import { spec } from '../../support/builders.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  carriers,
  exec,
  finallyDo,
  MECHANISMS,
  never,
  newMark,
  open,
  PLENTY_MS,
  runnerFor,
  sh,
} from './probe-world.ts';

function needsRoot({ skip }: TestContext): void {
  if (process.getuid?.() !== 0) skip('only root can run something as another user');
  if (findTools().setpriv === null) skip('setpriv is not installed here: apt install util-linux');
}

const asNobody = {
  kind: 'process',
  command: ['true'],
  shell: false,
  cwd: '/',
  env: {},
  envFiles: [],
  user: 'nobody',
} as const;

describe.each(MECHANISMS)('a short command of another user, with %s', (mechanism) => {
  test('runs as that user, with its environment, and says what it has to say', async (context) => {
    needsRoot(context);
    const commands = runnerFor(mechanism, context.skip);
    const script =
      'id -un; id -gn; echo "$SECRET"; echo by name >>/dev/stderr; ls -l /proc/self/fd | grep -c env-; env | grep -c KEEPWELL_RUN';
    const env = { PATH: '/usr/bin:/bin', SECRET: "sword'fish", LD_PRELOAD: '' };
    const result = await sh(commands, script, { user: 'nobody', env });
    expect(result).toEqual({
      kind: 'exited',
      code: 0,
      signal: null,
      output: "nobody\nnogroup\nsword'fish\nby name\n0\n1\n",
    });
    expect(readdirSync(commands.home).filter((name) => name.startsWith('.new-'))).toEqual([]);
  });

  test('is ended with all it started when its time is up', async (context) => {
    needsRoot(context);
    const commands = runnerFor(mechanism, context.skip);
    const mark = newMark();
    const script = '(setsid sleep 300 &); sleep 300';
    const result = await sh(commands, script, { user: 'nobody', timeoutMs: 500, mark });
    expect(result.kind).toBe('timed-out');
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('that cannot be started says what is in its way', async (context) => {
    needsRoot(context);
    const commands = runnerFor(mechanism, context.skip);
    const dir = tempDir();
    finallyDo(() => dir[Symbol.dispose]());
    writeFileSync(dir.at('mine'), '#!/bin/sh\n', { mode: 0o755 });
    chmodSync(dir.path, 0o700);
    const limits = { cwd: '/', env: {}, timeoutMs: PLENTY_MS, signal: never } as const;
    expect(await commands.run({ ...limits, command: [dir.at('mine')], user: 'nobody' })).toMatchObject({
      kind: 'not-started',
      problem: { code: 'command-permission', message: expect.stringContaining(`${dir.path} is closed to it`) },
    });
    expect(await commands.run({ ...limits, command: ['true'], user: 'no-such-user' })).toMatchObject({
      kind: 'not-started',
      problem: { code: 'account' },
    });
  });
});

test('an exec probe runs as the user of its component', async (context) => {
  needsRoot(context);
  const commands = runnerFor('process-group + cookie', context.skip);
  const question = exec('test "$(id -un)" = nobody');
  const asked = (parts: Parameters<typeof spec>[1]) =>
    open(question, { commands }, { spec: spec('api', parts) }).ask(PLENTY_MS, never);
  expect((await asked({ driver: asNobody })).outcome).toBe('pass');
  expect((await asked({})).outcome).toBe('fail');
});
