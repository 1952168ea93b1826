import { expect, test } from 'vitest';
import { daemonHealth } from '../../../src/api/client/daemon-health.ts';
import { AppError } from '../../../src/base/pure/errors.ts';

const QUERY = { checks: [], withDeps: false };
const REPORT = { status: 'healthy', timestamp: '2026-01-02T03:04:05.678Z', checks: {} } as const;
const version = () => Promise.resolve('0.1.0');
const fails = (error: Error) => () => Promise.reject(error);
const silent = new AppError('DAEMON_UNREACHABLE', { problem: 'no answer within 5000 ms.' });

test('a daemon that answers makes the report', async () => {
  expect(await daemonHealth({ version, health: () => Promise.resolve(REPORT) }, QUERY)).toEqual({ report: REPORT });
});

test('one that hangs is found out by a short question, before it is asked the long one', async () => {
  const health = () => new Promise<never>(() => {});
  const why = 'the daemon does not answer (no answer within 5000 ms)';
  expect(await daemonHealth({ version: fails(silent), health }, QUERY)).toEqual({ why });
});

test('one that is gone, dies meanwhile or knows no checks makes none; what it answers otherwise is an error', async () => {
  const gone = new AppError('DAEMON_NOT_RUNNING');
  expect(await daemonHealth({ version: fails(gone), health: fails(gone) }, QUERY)).toEqual({ why: null });
  expect(await daemonHealth({ version, health: fails(silent) }, QUERY)).toMatchObject({
    why: expect.stringMatching(/^the daemon/),
  });
  const old = new AppError('ROUTE_NOT_FOUND', { method: 'GET', path: '/v1/health' });
  expect(await daemonHealth({ version, health: fails(old) }, QUERY)).toMatchObject({
    why: expect.stringMatching(/earlier version/),
  });
  const wrong = new AppError('NO_SUCH_CHECK', { name: 'x', suggestion: '' });
  await expect(daemonHealth({ version, health: fails(wrong) }, QUERY)).rejects.toBe(wrong);
});
