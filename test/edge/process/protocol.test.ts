/** The words of the protocol, read one by one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunId } from '../../../src/base/pure/ids.ts';
import { causeOfExit, causeOfWaitStatus, parseExit } from '../../../src/drivers/process/exit-record.ts';
import { parseStat, readProcStat } from '../../../src/drivers/process/proc.ts';
import { parseStarted } from '../../../src/drivers/process/run-dir.ts';
import { parseDelays } from '../../../src/drivers/process/shim/delays.ts';
import { SHIM_VERSION, shimScript } from '../../../src/drivers/process/shim/shim.ts';
import { findTools } from '../../../src/drivers/process/shim/tools.ts';
import { isRunCgroup, oomKills } from '../../../src/drivers/process/tree/cgroup.ts';

const byCode = (code: number, ambiguous = false) => ({ kind: 'code', code, ambiguous });
const bySignal = (signal: string, core = false, oom = false) => ({ kind: 'signal', signal, core, oom });

test.each([
  { line: 'exit 0', oom: false, cause: byCode(0) },
  { line: 'exit 3 ', oom: false, cause: byCode(3) },
  { line: 'exit 143', oom: false, cause: byCode(143) },
  { line: 'exit 143 Terminated', oom: false, cause: bySignal('SIGTERM') },
  { line: 'exit 130', oom: false, cause: byCode(130, true) },
  { line: 'exit 141', oom: false, cause: byCode(141, true) },
  { line: 'exit 134 Aborted', oom: false, cause: bySignal('SIGABRT') },
  { line: 'exit 139 Segmentation fault (core dumped)', oom: false, cause: bySignal('SIGSEGV', true) },
  { line: 'exit 137 Killed', oom: true, cause: bySignal('SIGKILL', false, true) },
  { line: 'exit 143 Terminated', oom: true, cause: bySignal('SIGTERM') },
  { line: 'exit 137', oom: true, cause: { ...byCode(137), oom: true } },
  { line: 'exit 137', oom: false, cause: byCode(137) },
  { line: 'exit 1', oom: true, cause: byCode(1) },
  { line: 'exit 2 some words of the shell', oom: false, cause: byCode(2) },
  { line: 'exit 162 Real-time signal 0', oom: false, cause: bySignal('SIG34') },
])('"$line" (out of memory: $oom) is understood', ({ line, oom, cause }) => {
  const record = parseExit(line);
  expect(record && causeOfExit(record, oom)).toEqual(cause);
});

test.each(['', 'exit', 'exit x', 'exit 12345', 'started 1 2 -', ' exit 1'])('"%s" is no exit', (line) => {
  expect(parseExit(line)).toBeNull();
});

test.each([
  { status: 0, cause: byCode(0) },
  { status: 130 << 8, cause: byCode(130) },
  { status: 15, cause: bySignal('SIGTERM') },
  { status: 11 | 0x80, cause: bySignal('SIGSEGV', true) },
])('the wait status $status is understood', ({ status, cause }) => {
  expect(causeOfWaitStatus(status, false)).toEqual(cause);
});

test.each([
  { words: '12 345 cgroup', started: { pid: 12, startTime: '345', inCgroup: true } },
  { words: '12 345 -', started: { pid: 12, startTime: '345', inCgroup: false } },
  { words: '12 345', started: null },
  { words: '12', started: null },
  { words: '', started: null },
])('"$words" names a main process, or not', ({ words, started }) => {
  expect(parseStarted(words)).toEqual(started);
});

test('a process name with spaces and parentheses does not shift the fields', () => {
  const rest = Array.from({ length: 49 }, (_, index) => String(index + 4)).join(' ');
  expect(parseStat(`7 (a) S (b c) S ${rest}\n`)).toMatchObject({ pid: 7, name: 'a) S (b c', state: 'S', ppid: 4 });
  expect(parseStat(`7 (a) S (b c) S ${rest}\n`)).toMatchObject({ pgrp: 5, session: 6, threads: 20, startTime: '22' });
  expect(parseStat('nonsense')).toBeNull();
  expect(parseStat('7 (cut')).toBeNull();
  expect(readProcStat(process.pid)).toMatchObject({ pid: process.pid, ppid: process.ppid });
  expect(readProcStat(2 ** 30)).toBeNull();
});

test('the shim waits only where it is told to', () => {
  const tools = findTools();
  const nowhere = shimScript(tools, parseDelays(undefined));
  expect(nowhere).toContain(`keepwell shim ${SHIM_VERSION}`);
  expect(nowhere).not.toContain('sleep');
  const delayed = shimScript(tools, parseDelays('claim:0.4,exit:2'));
  expect(delayed.match(/sleep .*/g)).toEqual(['sleep 0.4 9>&-', 'sleep 2 9>&-']);
  expect(() => parseDelays('lunch:1')).toThrow('lunch:1');
  expect(() => parseDelays('claim:$(reboot)')).toThrow('shimDelay');
});

test("out of memory is read from the kernel's own counter, and only there", () => {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-oom-'));
  expect(oomKills(dir)).toBe(0);
  writeFileSync(join(dir, 'memory.events'), 'low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n');
  expect(oomKills(dir)).toBe(2);
  rmSync(dir, { recursive: true });
});

test('only the cgroup a run would have been given is ever taken for its own', () => {
  const run = 'api~012345678abcdef' as RunId;
  expect(isRunCgroup(`/sys/fs/cgroup/keepwell-0123456789ab/${run}`, run)).toBe(true);
  for (const path of ['/sys/fs/cgroup', `/sys/fs/cgroup/${run}`, '/sys/fs/cgroup/keepwell-0123456789ab', '']) {
    expect(isRunCgroup(path, run)).toBe(false);
  }
});
