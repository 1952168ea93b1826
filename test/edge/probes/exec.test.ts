import { describe, expect, test } from 'vitest';
import type { CommandResult, CommandRunner } from '../../../src/base/command.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  ask,
  carriers,
  exec,
  MECHANISMS,
  never,
  newMark,
  open,
  PLENTY_MS,
  runner,
  runnerFor,
  SHORT_MS,
} from './probe-world.ts';

const saying = (result: CommandResult): CommandRunner => ({ run: () => Promise.resolve(result) });
const exited = (code: number, output: string): CommandRunner => saying({ kind: 'exited', code, signal: null, output });

describe.each(MECHANISMS)('an exec probe, with %s', (mechanism) => {
  test('passes with exit code 0, and fails with the last line that was said', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    expect(await ask(exec('echo fine'), PLENTY_MS, { commands })).toEqual({ outcome: 'pass', message: 'exit code 0' });
    expect(await ask(exec('echo one; echo "no database" >&2; exit 3'), PLENTY_MS, { commands })).toEqual({
      outcome: 'fail',
      message: 'exit code 3: no database',
    });
    expect(await ask(exec('exit 4'), PLENTY_MS, { commands })).toEqual({ outcome: 'fail', message: 'exit code 4' });
    expect(await ask(exec('kill -9 $$'), PLENTY_MS, { commands })).toEqual({
      outcome: 'fail',
      message: 'killed by SIGKILL',
    });
  });

  test('rows 37 and 38: one that hangs and has forked fails in time and leaves nothing', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const environmentOf = () => ({ env: { PATH: '/usr/bin:/bin', MARK_OF_TEST: mark } });
    const question = exec('(setsid sleep 300 &); sleep 300 & sleep 300');
    expect(await ask(question, SHORT_MS, { commands, environmentOf })).toEqual({
      outcome: 'fail',
      message: 'no answer within 300 ms',
    });
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });

  test('row 39: asked again while it runs, it is not started again', async ({ skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const environmentOf = () => ({ env: { PATH: '/usr/bin:/bin', MARK_OF_TEST: mark } });
    const inquiry = open(exec('exec sleep 300'), { commands, environmentOf });
    const first = inquiry.ask(PLENTY_MS, never);
    await waitFor('it to run', () => carriers(mark).length === 1);
    expect((await inquiry.ask(PLENTY_MS, never)).outcome).toBe('inconclusive');
    expect(carriers(mark)).toHaveLength(1);
    inquiry[Symbol.dispose]();
    expect(await first).toEqual({ outcome: 'inconclusive', message: 'it was called off' });
    await waitFor('nothing to be left', () => carriers(mark).length === 0);
  });
});

describe('an exec probe', () => {
  test('fails when its command cannot be found, with the true cause', async () => {
    const question = { kind: 'exec', command: ['./check.sh'], cwd: '/nonexistent' } as const;
    expect(await ask(question, PLENTY_MS, { commands: runner() })).toEqual({
      outcome: 'fail',
      message: 'the working directory /nonexistent does not exist',
    });
  });

  test('is inconclusive when the machine is to blame', async () => {
    const problem = {
      code: 'out-of-resources',
      message: 'no more processes are allowed (EAGAIN)',
      heals: true,
    } as const;
    expect(await ask(exec(''), PLENTY_MS, { commands: saying({ kind: 'not-started', problem }) })).toEqual({
      outcome: 'inconclusive',
      message: problem.message,
    });
  });

  test('is inconclusive when the files of its environment cannot be read', async () => {
    const environmentOf = () => ({ code: 'env-file', message: 'there is no /app/.env', heals: false }) as const;
    const answer = await ask(exec('exit 0'), PLENTY_MS, { commands: runner(), environmentOf });
    expect(answer).toEqual({ outcome: 'inconclusive', message: 'there is no /app/.env' });
  });

  test('sees what the component sees', async () => {
    const environmentOf = () => ({ env: { PATH: '/usr/bin:/bin', PORT: '8080' } });
    const answer = await ask(exec('echo "$PORT $(pwd)"; exit 1', '/usr'), PLENTY_MS, {
      commands: runner(),
      environmentOf,
    });
    expect(answer.message).toBe('exit code 1: 8080 /usr');
  });

  test.each([
    ['colours and titles', '\u001b]0;title\u0007\u001b[31mred\u001b[0m alert\n', 'red alert'],
    ['a progress bar', 'one\rtwo\r\n', 'two'],
    ['control characters', 'a\u0000b\u202ec\n', 'a b c'],
    ['nothing but white space at the end', 'last\n \n\t\n', 'last'],
    ['a long line', 'x'.repeat(500), `${'x'.repeat(199)}…`],
    ['a secret', 'token=abcdef123456', 'token=[redacted]'],
  ])('says %s in one harmless line', async (_, output, expected) => {
    expect((await ask(exec(''), PLENTY_MS, { commands: exited(1, output) })).message).toBe(`exit code 1: ${expected}`);
  });
});
