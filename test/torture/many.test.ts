import { describe, expect, test } from 'vitest';
import { kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const HUNDRED = `components:\n${Array.from({ length: 100 }, (_, i) => `  c${i}: { process: { command: [sleep, "1000"] }, restart: { backoff: { initial: 0s, max: 0s } } }`).join('\n')}\n`;

describe('a hundred components', () => {
  test('start, die together, are adopted and stop without ever blocking the daemon for long', async () => {
    await using project = new TestProject(HUNDRED);
    await project.ok('up');
    const first = await project.status();
    expect(first.components.every(({ state }) => state === 'running')).toBe(true);
    expect(first.daemon.loop_delay_ms).toBeLessThan(1_000);

    for (const { pid } of first.components) kill(pid!);
    await waitFor('all of them to be back', async () =>
      (await project.status()).components.every(({ state, restarts }) => state === 'running' && restarts === 1),
    );
    expect((await project.crashes()).length).toBe(100);

    const second = await project.status();
    kill(second.daemon.pid!);
    await waitFor('a new daemon', async () => {
      const { daemon } = await project.status();
      return daemon.answers && daemon.pid !== second.daemon.pid;
    });
    const third = await project.status();
    expect(third.components.map(({ pid }) => pid)).toEqual(second.components.map(({ pid }) => pid));
    await project.ok('down');
    await waitFor('nothing to be left', () => project.processes().length === 0);
  });
});
