import { expect, test } from 'vitest';
import { describeExit, exitView } from '../../../src/base/pure/exit.ts';
import { eventSentence } from '../../../src/cli/print/event.ts';
import { limitsText } from '../../../src/cli/print/status.ts';
import type { LimitView } from '../../../src/supervision/rules/views.ts';

const limit = (
  name: LimitView['name'],
  max: number,
  mechanism: LimitView['mechanism'],
  note: string | null = null,
) => ({
  name,
  max,
  mechanism,
  note,
});

test.each([
  { limits: [], text: null },
  {
    limits: [limit('memory', 2 ** 29, 'cgroup-v1'), limit('pids', 200, 'cgroup-v2'), limit('nofile', 4096, 'rlimit')],
    text: 'memory 512 MiB (cgroup v1), pids 200 (cgroup v2), nofile 4096',
  },
  { limits: [limit('memory', 2 ** 29, 'rlimit', 'each by itself')], text: 'memory 512 MiB (rlimit: each by itself)' },
  { limits: [limit('pids', 5, null, 'no way')], text: 'pids 5 (not in force: no way)' },
])('limits are said as "$text"', ({ limits, text }) => {
  expect(limitsText({ limits })).toBe(text);
});

test('a limit that is not in force is an event that says so', () => {
  const subject = { kind: 'component', name: 'api' } as const;
  const event = { seq: 1, at: '', subject, type: 'component.unlimited', run_id: null };
  const sentence = eventSentence({ ...event, data: { limit: 'pids', max: 5, why: 'no way' } });
  expect(sentence).toBe('the limit pids 5 is not enforced: no way');
});

test.each([
  {
    cause: { kind: 'signal', signal: 'SIGKILL', core: false, oom: true } as const,
    text: 'killed by SIGKILL (out of memory)',
  },
  {
    cause: { kind: 'code', code: 137, ambiguous: false, oom: true } as const,
    text: 'exit code 137 (out of memory: a process of it was killed)',
  },
  { cause: { kind: 'code', code: 137, ambiguous: false } as const, text: 'exit code 137' },
])('"$text" is told from what the kernel counted', ({ cause, text }) => {
  expect(describeExit(exitView(cause))).toBe(text);
  expect(exitView(cause).oom).toBe('oom' in cause && cause.oom);
});
