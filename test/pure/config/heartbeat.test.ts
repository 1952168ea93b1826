import { describe, expect, test } from 'vitest';
import { ingredients, specHash } from '../../../src/config/fingerprint.ts';
import { api, oneProblem, only } from './support.ts';

const heart = (keys: string): string => api(`heartbeat: { ${keys} }`);
const legacy = (keys: string): string =>
  `components: { a: { external: { pid_file: /run/a.pid }, heartbeat: { ${keys} } } }`;

describe('a heartbeat comes from', () => {
  test.each([
    ['file: state.json', { kind: 'file', path: '/project/state.json', field: null }],
    ['file: /run/state.json, field: last_update', { kind: 'file', path: '/run/state.json', field: 'last_update' }],
    ['log_every: 30s', { kind: 'log', everyMs: 30_000, pattern: null }],
    ['log_every: 30s, log_pattern: "/done in \\\\d+/"', { kind: 'log', everyMs: 30_000, pattern: '/done in \\d+/' }],
    ['ping: true', { kind: 'ping' }],
  ])('%s', (keys, source) => {
    expect(only(heart(keys)).heartbeat).toEqual({ source, freezeAfterMs: 300_000, dumpSignal: null });
  });

  test('with its own patience, and a signal that makes it speak', () => {
    const { heartbeat } = only(heart('ping: true, freeze_after: 90s, dump_signal: SIGQUIT'));
    expect(heartbeat).toMatchObject({ freezeAfterMs: 90_000, dumpSignal: 'SIGQUIT' });
  });

  test('what others start may be listened to, by file and by ping', () => {
    expect(only(legacy('file: state.json')).heartbeat?.source.kind).toBe('file');
    expect(only(legacy('ping: true')).heartbeat?.source.kind).toBe('ping');
  });
});

describe('a heartbeat that cannot be is refused', () => {
  test.each([
    [heart(''), 'nothing says what a beat is | Write one of: file: state.json, log_every: 30s, ping: true'],
    [heart('ping: true, file: a'), 'a beat is one thing, not file and ping | Keep one.'],
    [heart('ping: false'), 'must be true | Write "ping: true", or name another heartbeat.'],
    [heart('ping: true, field: a'), 'field needs file | Write beside it: file: state.json, or remove it.'],
    [heart('file: a, log_pattern: b'), 'log_pattern needs log_every | Write beside it: log_every: 30s, or remove it.'],
    [heart('log_every: 30'), 'must be a duration'],
    [heart('log_every: 30s, log_pattern: "/(/"'), 'is not a regular expression'],
    [heart('ping: true, freeze_after: 100ms'), 'must be at least 1s'],
    [heart('ping: true, dump_signal: SIGTERM'), 'SIGTERM would end it'],
    [heart('ping: true, dump_signal: SIGSTOP'), 'would freeze the component'],
    [api('heartbeat: 30s'), 'Write: heartbeat: { log_every: 30s }'],
    [api('heartbeat: ping'), 'Write: heartbeat: { ping: true }'],
    [legacy('log_every: 30s'), 'the output of something external is not ours to read | Use another heartbeat'],
    [legacy('ping: true, dump_signal: SIGQUIT'), 'something external is not ours to signal'],
  ])('%s', (text, said) => {
    expect(oneProblem(text)).toContain(said);
  });
});

test('a component without a heartbeat is what it was before there were any, and one with it needs no new run', () => {
  const [without, withOne] = [only(api('')), only(heart('ping: true'))];
  expect(without).not.toHaveProperty('heartbeat');
  expect(specHash(withOne)).toBe(specHash(without));
  expect(ingredients(without)).not.toHaveProperty('heartbeat');
  expect(ingredients(withOne)).toHaveProperty('heartbeat');
});
