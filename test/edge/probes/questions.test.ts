import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { expect, test } from 'vitest';
import { isThere } from '../../../src/drivers/process/is-there.ts';
import type { Inquiry } from '../../../src/supervision/ports/prober.ts';
import type { Answer, ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { finallyDo, http, never, open, PLENTY_MS, prober, SHORT_MS, serve, target, tcp } from './probe-world.ts';

test('a pid probe passes while the process is there, and fails when it is not or was never', async () => {
  const child = spawn('sleep', ['300'], { stdio: 'ignore' });
  finallyDo(() => void child.kill('SIGKILL'));
  const pid = child.pid ?? 0;
  const inquiry = open({ kind: 'pid' }, {}, { pid });
  expect(await inquiry.ask(PLENTY_MS, never)).toEqual({ outcome: 'pass', message: `process ${pid} is there` });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await inquiry.ask(PLENTY_MS, never)).toEqual({ outcome: 'fail', message: `process ${pid} is gone` });
  expect(await open({ kind: 'pid' }, {}, { pid: null }).ask(PLENTY_MS, never)).toEqual({
    outcome: 'fail',
    message: 'it has no process',
  });
});

test('a zombie is not there', async () => {
  // Its parent never asks after it.
  const parent = spawn('sh', ['-c', '(exit 0) & echo $!; exec sleep 300'], { stdio: ['ignore', 'pipe', 'ignore'] });
  finallyDo(() => void parent.kill('SIGKILL'));
  const [text] = await once(parent.stdout, 'data');
  const pid = Number(text);
  await waitFor('the zombie', () => !isThere(pid));
  expect((await open({ kind: 'pid' }, {}, { pid }).ask(PLENTY_MS, never)).outcome).toBe('fail');
});

/** Answers of `log` questions, by their pattern. */
const answering = (answers: Readonly<Record<string, Answer>>) => ({
  logs: {
    open: (pattern: string): Inquiry => ({
      ask: async () => answers[pattern] ?? { outcome: 'pass', message: 'seen' },
      [Symbol.dispose]: () => {},
    }),
    watch: () => ({ [Symbol.dispose]: () => {} }),
  },
});

const log = (pattern: string): ProbeQuestion => ({ kind: 'log', pattern });
const allOf = (...all: readonly ProbeQuestion[]): ProbeQuestion => ({ kind: 'all_of', all });

test.each([
  ['all pass', [log('a'), log('b')], { outcome: 'pass', message: 'all 2 passed' }],
  ['one fails', [log('a'), log('bad'), log('worse')], { outcome: 'fail', message: 'log bad: no' }],
  ['one is inconclusive', [log('a'), log('unsure')], { outcome: 'inconclusive', message: 'log unsure: eh' }],
  ['a failure outweighs a doubt', [log('unsure'), log('bad')], { outcome: 'fail', message: 'log bad: no' }],
  [
    'one of a group in the group fails',
    [log('a'), allOf(log('bad'))],
    { outcome: 'fail', message: 'log bad: log bad: no' },
  ],
] as const)('all_of: %s', async (_, all, expected) => {
  const answers = {
    bad: { outcome: 'fail', message: 'no' },
    worse: { outcome: 'fail', message: 'never' },
    unsure: { outcome: 'inconclusive', message: 'eh' },
  } as const;
  expect(await open(allOf(...all), answering(answers)).ask(PLENTY_MS, never)).toEqual(expected);
});

test('all_of asks side by side, names who failed, and lets go of all when it is called off', async () => {
  const silent = await serve(() => {});
  const other = await serve(() => {});
  const question = allOf(http(silent.port), http(other.port, { path: '/ready' }));
  const inquiry = open(question);
  expect(await inquiry.ask(SHORT_MS, never)).toEqual({
    outcome: 'fail',
    message: `http :${silent.port}/: no answer within 300 ms`,
  });
  expect([silent.sockets.length, other.sockets.length]).toEqual([1, 1]);
  const again = inquiry.ask(10 * 60_000, never);
  await waitFor('both connections', () => silent.sockets.length === 2 && other.sockets.length === 2);
  inquiry[Symbol.dispose]();
  expect((await again).outcome).toBe('inconclusive');
  await waitFor('them to be gone', () => [...silent.sockets, ...other.sockets].every(({ destroyed }) => destroyed));
  expect((await open(allOf(tcp(silent.port), tcp(await freePort()))).ask(PLENTY_MS, never)).outcome).toBe('fail');
});

test('news of the log reach whoever asked for all_of', () => {
  const heard: (() => void)[] = [];
  let news = 0;
  const logs = {
    open: (_pattern: string, _target: unknown, onNews: () => void): Inquiry => {
      heard.push(onNews);
      return { ask: async () => ({ outcome: 'pass', message: '' }), [Symbol.dispose]: () => {} };
    },
    watch: () => ({ [Symbol.dispose]: () => {} }),
  };
  prober({ logs }).open(allOf(log('a'), log('b')), target(), () => news++);
  for (const tell of heard) tell();
  expect(news).toBe(2);
});

test('a question that cannot even be put is inconclusive, never an exception', async () => {
  const answer = await open(http(80, { headers: { 'bad\nname': 'x' } })).ask(PLENTY_MS, never);
  expect(answer.outcome).toMatch(/inconclusive|fail/);
  const { port } = await serve(() => {});
  expect((await open(http(port, { path: '/a b' })).ask(PLENTY_MS, never)).outcome).toBe('inconclusive');
});

test('listeners do not pile up on a signal that lives long', async () => {
  const controller = new AbortController();

  const { port } = await serve((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  const inquiry = open(allOf(http(port), tcp(port)));
  for (let asked = 0; asked < 20; asked++) await inquiry.ask(PLENTY_MS, controller.signal);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});
