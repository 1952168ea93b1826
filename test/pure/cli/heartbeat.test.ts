import { expect, test } from 'vitest';
import { exitCodeOf } from '../../../src/cli/commands/status.ts';
import { noPaint } from '../../../src/cli/print/colour.ts';
import { eventSentence } from '../../../src/cli/print/event.ts';
import { heartbeatText } from '../../../src/cli/print/status.ts';
import { whyText } from '../../../src/cli/print/why.ts';
import { event, NOW, view, why } from './views.ts';

const BEAT = { source: 'log', last_beat_at: null, silent_ms: 0, limit_ms: 330_000, problem: null };
const ago = (ms: number): string => new Date(NOW - ms).toISOString();

test.each([
  [{ last_beat_at: ago(12_000) }, 'last beat 12 s ago by log, frozen after 5 min 30 s of silence'],
  [{}, 'no beat yet by log, frozen after 5 min 30 s of silence'],
  [{ problem: 'there is no beat' }, 'no beat yet by log (there is no beat), frozen after 5 min 30 s of silence'],
])('a heartbeat in words: %o', (more, text) => {
  expect(heartbeatText({ ...BEAT, ...more }, NOW)).toBe(text);
});

test('the dossier of a freeze has its steps and what it was doing', () => {
  const freeze = {
    reason: 'frozen: no heartbeat for 5 min',
    silent_since: ago(320_000),
    steps: [{ at: ago(10_000), text: 'SIGINT sent' }],
    evidence: ['42 (node), main process: waiting', '  sockets: tcp 127.0.0.1:80 listening'],
  };
  const text = whyText(why({ freeze }), { current: null, nowMs: NOW, paint: noPaint }).join('\n');
  expect(text).toMatch(/Its heartbeat was overdue:\n +\S+ +last sign of progress\n +\S+ +SIGINT sent\n/);
  expect(text).toMatch(/What it was doing:\n +42 \(node\), main process: waiting\n +sockets: tcp/);
  expect(whyText(why(), { current: null, nowMs: NOW, paint: noPaint }).join()).not.toContain('heartbeat');
});

test.each([
  [
    'component.frozen',
    { reason: 'frozen: no heartbeat for 5 min', source: 'log' },
    'frozen: no heartbeat for 5 min (log)',
  ],
  [
    'component.examined',
    { busy: null, stopped: null, lines: 4, postponed_ms: null },
    'its processes were examined: they are idle (4 lines of evidence)',
  ],
  [
    'component.examined',
    { busy: 'busy: 3 s of CPU in 3 s', stopped: null, lines: 4, postponed_ms: 300_000 },
    'its processes were examined: busy: 3 s of CPU in 3 s (4 lines of evidence); given 5 min more',
  ],
  ['component.thawed', { reason: 'it beats again', silent_ms: 60_000 }, 'no longer frozen: it beats again after 1 min'],
  ['component.thawed', { reason: 'its configuration changed' }, 'no longer frozen: its configuration changed'],
  ['component.stopping', { signal: 'SIGINT', reason: 'frozen' }, 'stopping, SIGINT sent: frozen'],
  ['component.stopping', { signal: 'SIGTERM' }, 'stopping, SIGTERM sent'],
])('%s %o is "%s"', (type, data, sentence) => {
  expect(eventSentence(event(type, data))).toBe(sentence);
});

test('what is frozen is not well', () => {
  expect(exitCodeOf([view('api', { condition: 'frozen' })])).toBe(1);
});
