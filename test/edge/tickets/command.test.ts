import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { createCommandRunner } from '../../../src/drivers/process/command-runner.ts';
import type { TrackerSpec } from '../../../src/incidents/tickets/kinds.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { settings, ticketSample } from '../../support/ticket-samples.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TicketsWorld } from './tickets-world.ts';

async function world(script: string, crash: Parameters<typeof ticketSample>[1] = {}, timeoutMs = 20_000) {
  const temp = tempDir();
  mkdirSync(temp.at('home'));
  writeFileSync(temp.at('file-it'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const tracker: TrackerSpec = {
    ...{ name: 'command', kind: 'command', target: 'hash', cwd: temp.path, timeoutMs },
    command: ['./file-it', '$(touch owned)', '; touch owned'],
  };
  const spec = settings({ trackers: [tracker] });
  const runner = createCommandRunner({
    home: temp.at('home'),
    cgroup: 'off',
    clock: systemClock,
    log: silentLog,
    softNofile: null,
  });
  const service = new TicketsWorld(spec, [ticketSample(spec, crash)], runner);
  return {
    tickets: service,
    temp,
    async [Symbol.asyncDispose]() {
      await service.service.dispose();
      await runner.close();
      temp[Symbol.dispose]();
    },
  };
}

describe('a command', () => {
  test('reads the ticket from its standard input, and may answer with an address', async () => {
    await using it = await world('cat > got.json; echo noise; echo \'{"url": "https://jira.example/K-3"}\'');
    await it.tickets.delivered('command');
    const got = JSON.parse(readFileSync(it.temp.at('got.json'), 'utf8')) as Record<string, unknown>;
    expect(got).toMatchObject({
      action: 'create',
      idempotency_key: it.tickets.book.find(3)!.key,
      ticket: { number: 'BUG-003' },
    });
    expect(it.tickets.standing('command').address).toBe('https://jira.example/K-3');
  });

  test('is never read by a shell, whatever the ticket and its arguments contain', async () => {
    const hostile = '`touch owned`; $(touch owned) | touch owned \n touch owned';
    await using it = await world('cat > got.json; printf "%s\\n" "$@" > args', {
      errorMessage: hostile,
      logTail: [hostile],
    });
    await it.tickets.delivered('command');
    expect(() => readFileSync(it.temp.at('owned'))).toThrow();
    expect(readFileSync(it.temp.at('args'), 'utf8')).toBe('$(touch owned)\n; touch owned\n');
    const { errorLogs } = it.tickets.book.find(3)!;
    expect(JSON.parse(readFileSync(it.temp.at('got.json'), 'utf8'))).toMatchObject({
      ticket: { error_logs: errorLogs },
    });
  });

  test('need not read: a long ticket holds up nobody', async () => {
    await using it = await world('exit 0', { logTail: Array.from({ length: 100 }, () => 'x'.repeat(2_000)) });
    await it.tickets.delivered('command');
  });

  test('that fails is run again with the same key', async () => {
    await using it = await world(
      'cat >> got.json; [ -e once ] || { touch once; echo "token=abcdefgh12345678" >&2; exit 3; }',
    );
    await it.tickets.delivered('command');
    const keys = readFileSync(it.temp.at('got.json'), 'utf8').match(/"idempotency_key":"[^"]+"/g);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
    const failed = it.tickets.book.told[0];
    expect(failed).toMatchObject({
      type: 'ticket.delivery-failed',
      data: { error: expect.stringContaining('exit code 3') },
    });
    expect(it.tickets.everything()).not.toContain('abcdefgh12345678');
  });

  test('that hangs is ended', async () => {
    await using it = await world('[ -e once ] || { touch once; sleep 1000; }', {}, 500);
    await it.tickets.delivered('command');
    expect(it.tickets.book.told[0]).toMatchObject({ data: { error: expect.stringContaining('did not end within') } });
  });

  test('that is not there stops it, and that is said', async () => {
    await using it = await world('exit 0');
    const missing: TrackerSpec = {
      name: 'command',
      kind: 'command',
      target: 'hash',
      command: ['./nobody'],
      cwd: it.temp.path,
      timeoutMs: 1_000,
    };
    const spec = settings({ trackers: [missing] });
    it.tickets.book.save(ticketSample(spec, {}, 9), []);
    it.tickets.service.use(spec);
    await waitFor('it to stop', () => it.tickets.standing('command', 9).stopped);
    expect(it.tickets.standing('command', 9).error).toContain('nobody');
  });
});
