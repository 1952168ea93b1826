import { expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { sessionRecord } from '../../support/session-record.ts';
import { CliWorld } from './cli-world.ts';

test('an option that means nothing to an action is refused, with those that do, and nothing is asked for', async () => {
  await using world = await CliWorld.served();
  const { asked } = world.served!.control;
  for (const [args, said] of [
    [['extend', '5f0c6d1e', '--ttl', '2h'], '"sessions extend" has no option --ttl, only --by.'],
    [['spawn', 'web', '--user', 'ann', '--by', '2h'], 'has no option --by, only --user, --ttl, --wait.'],
    [['stop', '5f0c6d1e', '--user', 'ann'], '"sessions stop" has no option --user.'],
    [['--ttl', '1h'], '"sessions list" has no option --ttl, only --user, --all.'],
  ] as const) {
    const { code, err } = await world.run('sessions', ...args);
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(said) });
  }
  expect(asked).toEqual([]);
  expect((await world.run('sessions', 'extend', '5f0c6d1e')).code).toBe(0);
  expect(asked).toEqual([['extend', '5f0c6d1e', 1_800_000]]);
});

test('several are stopped only when all of them are found, each of them once', async () => {
  await using world = await CliWorld.served();
  const { control } = world.served!;
  const stopped: string[] = [];
  control.sessions.get = (id) => {
    if (id === 'nobody') throw new AppError('NO_SUCH_SESSION', { id });
    return sessionRecord({ id: `${id.slice(0, 4)}0000` });
  };
  control.sessions.stop = async (id) => {
    stopped.push(id);
    return sessionRecord({ id, state: 'ended' });
  };
  const wrong = await world.run('sessions', 'stop', 'aaaa', 'nobody', 'bbbb');
  expect(wrong).toMatchObject({ code: 4, err: expect.stringContaining('There is no session "nobody".') });
  expect(stopped).toEqual([]);
  const right = await world.run('sessions', 'stop', 'aaaa', 'bbbb', 'aaaa0');
  expect(right).toMatchObject({ code: 0, out: 'stopped aaaa0000\nstopped bbbb0000\n' });
  expect(stopped.toSorted()).toEqual(['aaaa0000', 'bbbb0000']);
});
