import { expect, test } from 'vitest';
import { createClient } from '../../../src/api/client/client.ts';
import { Served } from './serve.ts';

test('agents are spawned by type and task, and a command is refused', async () => {
  await using served = await Served.open();
  for (const more of [{ command: ['id'] }, { cwd: '/' }, { env: {} }, { shell: true }]) {
    const { status } = await served.ask('POST', '/v1/agents', { body: { type: 'architect', task: 'A', ...more } });
    expect(status).toBe(400);
  }
  expect(served.control.asked).toEqual([]);
  const client = createClient(served.socket);
  const { agent } = await client.spawnAgent({ type: 'architect', task: 'two\nlines' });
  expect(agent).toMatchObject({ agent_type: 'architect', state: 'starting', source: 'keepwell' });
  await client.stopAgents('a/b?c');
  await client.agents({ all: true });
  expect(await client.lookAtAgents()).toMatchObject({ status: 'healthy', issues: [] });
  await client.lookAtAgents('2026-01-02T03:04:05.678Z');
  expect(served.control.asked).toEqual([
    ['spawn-agent', { type: 'architect', task: 'two\nlines' }],
    ['stop-agent', 'a/b?c'],
    ['agents', { all: true }],
    ['check', undefined],
    ['check', '2026-01-02T03:04:05.678Z'],
  ]);
});
