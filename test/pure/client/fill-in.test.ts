import { expect, test } from 'vitest';
import { type AnsweredStatus, filledComponent, filledStatus } from '../../../src/api/client/client.ts';
import { noPaint } from '../../../src/cli/print/colour.ts';
import { statusTable, verboseBlock } from '../../../src/cli/print/status.ts';
import { NOW, status, view } from '../cli/views.ts';

const LATER = new Set(['probes', 'heartbeat', 'limits', 'resources', 'logs']);
/** What a daemon of the first version would have answered. */
const first = <T>(answer: T): T =>
  JSON.parse(JSON.stringify(answer, (key, value) => (LATER.has(key) ? undefined : value)));

test('an answer of the first version becomes one of this version, in which the rest is not known', () => {
  const full = status([view('api')]);
  const old: AnsweredStatus = first(full);
  expect(old.components[0]).not.toHaveProperty('resources');
  expect(filledStatus(old)).toEqual({ ...full, daemon: { ...full.daemon, logs: null } });
  expect(filledStatus(full)).toEqual(full);
});

test('status can be printed of it, short and long', () => {
  const api = filledComponent(first(view('api')));

  expect(statusTable([api], noPaint, 200).join('\n')).toMatch(/api.*running/);
  expect(verboseBlock(api, noPaint, NOW).join('\n')).not.toMatch(/undefined|Usage/);
});
