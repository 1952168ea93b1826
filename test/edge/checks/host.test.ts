import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createFileQueue } from '../../../src/checks/kinds/file-exists.ts';
import type { CheckQuestion, CheckResult } from '../../../src/checks/spec.ts';
import { waitFor } from '../../support/wait-for.ts';
import { CheckWorld } from './check-world.ts';

async function ask(world: CheckWorld, question: CheckQuestion): Promise<CheckResult> {
  return (await world.run([world.check('it', question)])).checks['it']!;
}

test('a file exists, or it is said of each path why not', async () => {
  await using world = new CheckWorld();
  const { dir } = world;
  const files = (...anyOf: string[]) => ask(world, { kind: 'file_exists', in: null, anyOf });
  writeFileSync(dir.at('there'), '');
  symlinkSync(dir.at('nowhere'), dir.at('link'));
  expect(await files(dir.at('gone'), dir.at('there'))).toEqual({ status: 'ok', message: `${dir.at('there')} exists` });
  expect(await files(dir.path)).toMatchObject({ status: 'ok' });
  expect(await files(dir.at('gone'), dir.at('link'), dir.at('there/below'))).toEqual({
    status: 'failed',
    message: `there is no ${dir.at('gone')}; ${dir.at('link')} is a symbolic link to something that is not there; there is no ${dir.at('there/below')}`,
  });
});

test('a file on a drive that does not answer is looked at once, and others are still found', async () => {
  const lookAt = createFileQueue();
  let looks = 0;
  let answer = (_text: string): void => {};
  const hanging = () => {
    looks += 1;
    return new Promise<string>((resolve) => {
      answer = resolve;
    });
  };
  const never = new AbortController().signal;
  const first = lookAt('/dead', hanging, never);
  for (let report = 0; report < 5; report += 1) {
    const over = new AbortController();
    const asked = lookAt('/dead', hanging, over.signal);
    over.abort(new Error('its time is over'));
    await expect(asked).rejects.toThrow('its time is over');
    expect(await lookAt('/there', () => Promise.resolve('there'), never)).toBe('there');
  }
  expect(looks).toBe(1);
  answer('back');
  expect(await first).toBe('back');
  expect(await lookAt('/dead', () => Promise.resolve('again'), never)).toBe('again');
});

test('a variable is set, empty or not set; its value is never shown', async () => {
  await using world = new CheckWorld();
  world.env = { TOKEN: 'very-secret', EMPTY: '' };
  const variable = (name: string) => ask(world, { kind: 'env_set', in: null, name });
  expect(await variable('TOKEN')).toEqual({ status: 'ok', message: 'TOKEN is set' });
  expect(await variable('EMPTY')).toMatchObject({ status: 'failed', message: expect.stringContaining('is empty') });
  for (const name of ['NONE', 'constructor'])
    expect(await variable(name)).toMatchObject({
      status: 'failed',
      message: `${name} is not set in the environment of this test`,
    });
});

describe('a state file', () => {
  const question = (path: string): CheckQuestion => ({
    kind: 'state_file',
    path,
    idleWhenMissing: true,
    statusField: 'status',
    taskField: 'task',
  });

  test('is read, and what cannot be read is said', async () => {
    await using world = new CheckWorld();
    const { dir } = world;
    const path = dir.at('state.json');
    expect(await ask(world, question(path))).toEqual({ status: 'ok', message: 'idle' });
    writeFileSync(path, '{"status":"working","task":"3.2"}');
    expect(await ask(world, question(path))).toEqual({ status: 'ok', message: 'working on task 3.2' });
    writeFileSync(path, '{"status":"wor');
    expect(await ask(world, question(path))).toEqual({ status: 'failed', message: `${path} is not valid JSON` });
    writeFileSync(path, ' '.repeat(2 * 1024 * 1024));
    expect(await ask(world, question(path))).toMatchObject({ message: `${path} is larger than 1048576 bytes` });
    mkdirSync(dir.at('folder'));
    expect(await ask(world, question(dir.at('folder')))).toMatchObject({
      message: `${dir.at('folder')} is a directory`,
    });
    expect(spawnSync('mkfifo', [dir.at('pipe')]).status).toBe(0);
    expect(await ask(world, question(dir.at('pipe')))).toMatchObject({
      message: expect.stringContaining('regular file'),
    });
  });

  test('that is being written is read again', async () => {
    await using world = new CheckWorld();
    const path = world.dir.at('state.json');
    const answers = new Set<string>();
    await waitFor('one that was written in the meantime', async () => {
      writeFileSync(path, '');
      const asked = ask(world, question(path));
      setTimeout(() => writeFileSync(path, '{"status":"paused"}'), 20);
      const { status, message } = await asked;
      answers.add(status);
      return message === 'paused';
    });
    expect(answers).toContain('ok');
  });
});
