import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ansiSpans } from '../../../dashboard/lib/ansi.ts';
import { headlineOf, openIncidents, shortNote } from '../../../dashboard/lib/attention.ts';
import { consequenceOf, refusal } from '../../../dashboard/lib/consequences.ts';
import { crashLine, dossierMarkdown, frameGroups, siblingsOf } from '../../../dashboard/lib/dossier.ts';
import { matcher, ranked } from '../../../dashboard/lib/filter.ts';
import { ago, briefly, countdown, humanTimes, roughly, spanName, withoutName } from '../../../dashboard/lib/format.ts';
import { belongsTo, withEvents } from '../../../dashboard/lib/happenings.ts';
import { drawingOf } from '../../../dashboard/lib/layout.ts';
import { boundary, LogBuffer, merged, positionsAfter } from '../../../dashboard/lib/log-buffer.ts';
import { hrefOf, placeOf, tokenIn } from '../../../dashboard/lib/route.ts';
import { EventParser } from '../../../dashboard/lib/sse.ts';
import {
  areaPath,
  beatPaths,
  histogram,
  niceMax,
  sparkPath,
  ticks,
  timeAt,
  xOf,
} from '../../../dashboard/lib/timeline.ts';
import { lookOf } from '../../../dashboard/lib/words.ts';
import type { AttentionView } from '../../../src/dashboard/rules/views.ts';
import type { LogLineView } from '../../../src/logs/ports.ts';
import type { CrashView, EventView, WhyView } from '../../../src/supervision/rules/views.ts';

const line = (component: string, offset: number, at: string | null, run = 'r1'): LogLineView => ({
  ...{ component, line: `${component} ${offset}`, at, run, offset, cut_bytes: 0, lost_bytes: 0 },
});

describe('colours of a terminal', () => {
  test.each([
    ['plain', [{ text: 'plain', classes: '' }]],
    [
      '\u001b[31mred\u001b[0m end',
      [
        { text: 'red', classes: 'a1' },
        { text: ' end', classes: '' },
      ],
    ],
    [
      '\u001b[1;32mok\u001b[22m still',
      [
        { text: 'ok', classes: 'a2 ab' },
        { text: ' still', classes: 'a2' },
      ],
    ],
    ['\u001b[38;5;196mx', [{ text: 'x', classes: 'a9' }]],
    ['\u001b[38;2;0;0;255mx', [{ text: 'x', classes: 'a12' }]],
    ['\u001b[7mx', [{ text: 'x', classes: 'ar' }]],
    ['\u001b]8;;https://evil.example/\u0007click\u001b]8;;\u0007!', [{ text: 'click!', classes: '' }]],
    ['a\u202eb\u001b[2Jc', [{ text: 'abc', classes: '' }]],
  ])('%j', (text, spans) => expect(ansiSpans(text)).toEqual(spans));
});

test('events come whole out of any pieces, without heartbeats', () => {
  const parser = new EventParser();
  const text = 'retry: 1000\n\n: heartbeat\n\nid: 1\ndata: {"a":1}\n\ndata: {"b":\ndata: 2}\n\n';
  expect([...text].flatMap((piece) => parser.push(piece))).toEqual(['{"a":1}', '{"b":\n2}']);
});

describe('addresses', () => {
  test.each([
    ['', { screen: 'overview', name: null, query: {} }],
    ['#/nonsense/x', { screen: 'overview', name: null, query: {} }],
    ['#/component/my%2Fapi', { screen: 'component', name: 'my/api', query: {} }],
    ['#/logs?c=a,b&q=%2Fx%2F', { screen: 'logs', name: null, query: { c: 'a,b', q: '/x/' } }],
    ['#/component/%E0%A4%A', { screen: 'component', name: '%E0%A4%A', query: {} }],
  ])('%s', (hash, place) => expect(placeOf(hash)).toEqual(place));
  test('lead back to where they came from', () => {
    expect(placeOf(hrefOf('component', 'a b/c'))).toMatchObject({ screen: 'component', name: 'a b/c' });
    expect(hrefOf('logs', null, { c: 'api', q: '' })).toBe('#/logs?c=api');
  });
  test('the token is found, and nothing else is one', () => {
    expect(tokenIn('#token=abc')).toBe('abc');
    expect(tokenIn('#/logs?c=token')).toBeNull();
  });
});

test('a filter is a text or an expression, and says when it is neither', () => {
  expect(matcher('API')!('my-api')).toBe(true);
  expect(matcher('/^a.i$/')!('api')).toBe(true);
  expect(matcher('/(/')).toBeNull();
  expect(ranked('bl', ['table', 'billing', 'b-lane'], (text) => text)[0]).toBe('b-lane');
});

describe('logs', () => {
  test('of several components are in the order in which they were written, and each keeps its own', () => {
    const lines = [
      line('a', 0, '2026-01-01T00:00:01Z'),
      line('a', 9, null),
      line('a', 20, '2026-01-01T00:00:05Z'),
      line('b', 0, '2026-01-01T00:00:02Z'),
    ];
    expect(merged(lines).map(({ line: text }) => text)).toEqual(['a 0', 'a 9', 'b 0', 'a 20']);
  });
  test('are bounded, and go by whole sections', () => {
    const buffer = new LogBuffer(250);
    buffer.push(Array.from({ length: 1_000 }, (_, at) => line('a', at, null)));
    expect(buffer.size).toBe(200);
    expect(buffer.dropped).toBe(800);
    expect(buffer.lines.at(-1)!.offset).toBe(999);
    expect(buffer.sections.map(({ lines }) => lines.length)).toEqual([100, 100]);
  });
  test('go on behind the last line of each, as many as fit', () => {
    const last = new Map([
      ['a', 1],
      ['bb', 22],
    ]);
    expect(positionsAfter(last)).toBe('bb:22,a:1');
    expect(positionsAfter(last, 6)).toBe('bb:22');
  });
  test('show where a run begins and what is lost', () => {
    expect(boundary(line('a', 0, null, 'r1'), line('a', 1, null, 'r2'))).toBe('a new run begins');
    expect(boundary(line('a', 0, null), line('a', 1, null))).toBeNull();
    expect(boundary(undefined, { ...line('a', 9, null), lost_bytes: 9 })).toContain('9 bytes');
  });
});

describe('what is drawn over time', () => {
  const axis = { fromMs: 0, toMs: 1_000, width: 100 };
  test('is where its time is', () => {
    expect(xOf(axis, 500)).toBe(50);
    expect(xOf(axis, 5_000)).toBe(100);
    expect(timeAt(axis, 25)).toBe(250);
  });
  test('a day has one path for each kind of beat', () => {
    expect([...beatPaths('uuttu-').keys()]).toEqual(['u', 't', '-']);
    expect(beatPaths('uu').get('u')).toBe('M0 0h1.85v10H0z');
  });
  test('curves have gaps where nothing was measured', () => {
    expect(sparkPath([1, null, 1], 1, 60, 16).match(/M/g)).toHaveLength(2);
    const point = (fromMs: number, value: number | null) => ({ fromMs, toMs: fromMs + 50, value });
    expect(areaPath([point(0, 1), point(50, 2), point(700, 1)], axis, 2, 10, 100).match(/M/g)).toHaveLength(2);
    expect(areaPath([point(0, null)], axis, 2, 10, 100)).toBe('');
  });
  test('scales end at round numbers, and ticks are round times', () => {
    expect([0, 3, 12, 480].map(niceMax)).toEqual([1, 5, 20, 500]);
    expect(ticks({ fromMs: 1, toMs: 3_600_000 }, 8)).toEqual([
      600_000, 1_200_000, 1_800_000, 2_400_000, 3_000_000, 3_600_000,
    ]);
    expect(histogram([0, 10, 99, 100], 0, 100, 2)).toEqual([2, 1]);
  });
});

describe('the graph', () => {
  test('has what is needed to the left of who needs it', () => {
    const { nodes, edges } = drawingOf([
      { name: 'web', needs: ['api', 'gone'] },
      { name: 'api', needs: ['db'] },
      { name: 'db', needs: [] },
    ]);
    const x = Object.fromEntries(nodes.map((node) => [node.name, node.x]));
    expect(x['db']! < x['api']! && x['api']! < x['web']!).toBe(true);
    expect(edges.map(({ from, to }) => `${from}>${to}`).sort()).toEqual(['api>web', 'db>api']);
  });
  test('of 500 components lays no two on each other', () => {
    const names = Array.from({ length: 500 }, (_, at) => ({
      name: `c${at}`,
      needs: at < 10 ? [] : [`c${at % 10}`, `c${Math.floor(at / 2)}`],
    }));
    const { nodes } = drawingOf(names);
    expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(500);
  });
});

describe('actions', () => {
  const row = (name: string, needs: string[] = [], state: 'running' | 'stopped' = 'running') => ({
    ...{
      name,
      state,
      pid: state === 'running' ? 12 : null,
      kind: 'process' as const,
      depends_on: Object.fromEntries(needs.map((each) => [each, 'ready'])),
    },
  });
  test('name what they will do', () => {
    expect(consequenceOf('restart', row('api'), [row('api'), row('web', ['api'])])).toEqual({
      title: 'Restart api',
      sentences: ['Ends pid 12 and begins a new run.', 'web depends on it.'],
    });
    expect(consequenceOf('start', row('web', ['api'], 'stopped'), []).sentences.join(' ')).toContain(
      'waits for what it depends on: api',
    );
  });
  test('are refused with a reason', () => {
    expect(refusal('stop', row('api'), 'read', true)).toContain('may only read');
    expect(refusal('stop', row('api'), 'control', false)).toContain('does not answer');
    expect(refusal('start', row('api'), 'control', true)).toContain('runs already');
    expect(refusal('restart', row('api'), 'control', true)).toBeNull();
  });
});

describe('the dossier', () => {
  const why = {
    ...{
      id: 7,
      subject: { kind: 'component', name: 'api' },
      run_id: 'r',
      at: '2026-01-01T00:00:00Z',
      uptime_ms: 5,
      fingerprint: 'f',
    },
    exit: {
      code: 1,
      signal: null,
      oom: false,
      core: false,
      ambiguous: false,
      spawn_error: null,
      unknown: null,
      unhealthy: null,
      usage: null,
    },
    ...{
      error_type: 'TypeError',
      error_message: 'x is [not](http://evil) a function',
      root_cause: 'a bug',
      agent_type: null,
      task_id: null,
    },
    ...{
      agent_pid: null,
      decision: 'restart in 1 s',
      incident: 1,
      ticket: null,
      schema_version: 1,
      related_files: ['app.js'],
      earlier_error: null,
    },
    log_tail: ['start', 'TypeError: x is [not](http://evil) a function', '``` <img>'],
    stack: ['at f (/srv/app.js:1:2)', 'at g (/srv/node_modules/lib/x.js:1)', 'at h (node:internal/x:1)'],
    ...{ probes: [], freeze: null, dependencies: [], changed_since_good: [] },
    rule: { name: 'backoff', counters: { restarts_in_window: 1, failures: 1, spawn_errors: 0, total: 0 } },
  } as unknown as WhyView;
  test('has own frames open, and those of libraries together', () =>
    expect(frameGroups(why.stack, why.related_files).map(({ own, frames }) => [own, frames.length])).toEqual([
      [true, 1],
      [false, 2],
    ]));
  test('knows the line that tells of it', () => {
    expect(crashLine(why.log_tail, why)).toBe(1);
    expect(crashLine(['a'], why)).toBe(-1);
  });
  test('is Markdown in which nothing a program said becomes a link or ends a fence', () => {
    const text = dossierMarkdown(why);
    expect(text).toContain('# api: TypeError: x is \\[not\\](http://evil) a function');
    expect(text).toContain('````text\nstart');
    expect(text).toContain('- **Rule:** backoff (1 restart in the window, 1 failure in a row, 0 earlier restarts)');
  });
  test('finds the others of the same cause', () => {
    const crash = (id: number, fingerprint: string) =>
      ({ id, fingerprint, at: `2026-01-0${id}T00:00:00Z` }) as CrashView;
    const all = [crash(9, 'f'), crash(8, 'g'), crash(7, 'f'), crash(5, 'f')];
    expect(siblingsOf({ id: 7, fingerprint: 'f' }, all)).toMatchObject({ total: 3, earlier: 5, later: 9 });
    expect(siblingsOf({ id: 7, fingerprint: null }, all)).toBeNull();
  });
});

test('events are added once, in order, and bounded', () => {
  const event = (seq: number, type = 'component.ready'): EventView => ({
    seq,
    type,
    at: '',
    subject: { kind: 'component', name: 'a' },
    run_id: null,
    data: {},
  });
  const known = withEvents([], [event(1), event(2)]);
  expect(withEvents(known, [event(2)])).toBe(known);
  expect(withEvents(known, [event(2), event(3)], 2).map(({ seq }) => seq)).toEqual([2, 3]);
  expect(belongsTo('failures', event(1, 'component.gave-up'))).toBe(true);
  expect(belongsTo('failures', event(1))).toBe(false);
});

describe('a state', () => {
  const seen = { state: 'running', condition: null, health: 'healthy', ready: true } as const;
  test.each([
    [seen, 'ok', 'running'],
    [{ ...seen, ready: false }, 'warn', 'not ready'],
    [{ ...seen, condition: 'frozen' }, 'bad', 'frozen'],
    [{ ...seen, state: 'gave-up' }, 'bad', 'gave up'],
    [{ ...seen, state: 'backing-off' }, 'warn', 'backing off'],
    [{ ...seen, state: 'stopped' }, 'idle', 'stopped'],
  ] as const)('%j is %s, %s', (row, tone, word) => expect(lookOf(row)).toMatchObject({ tone, word }));
});

test('times are as short as a table needs', () => {
  expect(ago('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:05:00Z'))).toBe('5 min ago');
  expect(ago('2026-01-01T00:00:09Z', Date.parse('2026-01-01T00:00:00Z'))).toBe('in 9 s');
  expect(countdown('2026-01-01T00:00:12Z', Date.parse('2026-01-01T00:00:00Z'))).toBe('12s');
  expect(roughly(200_000_000)).toBe('2 d');
  expect([5_900, 119_000, 3_660_000, 100_000_000].map(briefly)).toEqual(['5 s', '1 min', '1 h 1 min', '1 d 3 h']);
  expect(spanName({ bucket_ms: 10_000, buckets: 60 })).toBe('10 min');
  expect(spanName({ bucket_ms: 900_000, buckets: 96 })).toBe('24 h');
  expect(humanTimes('last 2026-11-18T15:31:48.869Z.')).toMatch(/^last \d\d:31:48\.$/);
  expect(withoutName('api', 'api is not ready')).toBe('is not ready');
});

describe('what needs attention', () => {
  test('the cause comes first, and nothing is said twice', () => {
    expect(headlineOf('api', { title: 'api: exit code 1', cause: 'the port is in use' })).toEqual({
      headline: 'the port is in use',
      more: 'exit code 1',
    });
    const title = 'api is not ready: readiness exec test -e ready: exit code 1';
    expect(headlineOf('api', { title, cause: 'readiness exec test -e ready: exit code 1' })).toEqual({
      headline: 'is not ready: readiness exec test -e ready: exit code 1',
      more: null,
    });
    expect(headlineOf(null, { title: 'the disk is full', cause: null }).headline).toBe('the disk is full');
  });

  test('the number beside "Incidents" is of incidents alone', () => {
    const of = (kind: 'incident' | 'component') => ({ kind }) as AttentionView;
    expect(openIncidents({ attention: [of('incident'), of('component'), of('incident')] })).toBe(2);
    expect(openIncidents(null)).toBe(0);
  });

  test.each([
    ['gave up (policy-never): exit code 1', 'exit code 1'],
    ['gave up: exit code 1', 'exit code 1'],
    ['exit code 1', 'exit code 1'],
  ])('a note does not repeat the state: %s', (note, short) => {
    expect(shortNote(note)).toBe(short);
  });
});

describe('the page', () => {
  const files = readdirSync('dashboard', { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  test.each(files)('%s makes nothing but text, and is short enough to be read whole', (name) => {
    const text = readFileSync(join('dashboard', name), 'utf8');
    expect(text).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|dangerouslySet|\beval\(|new Function/,
    );
    expect(text.split('\n').length).toBeLessThanOrEqual(500);
  });
  test.each(files.filter((name) => name.startsWith('lib/')))('%s knows no browser', (name) => {
    expect(readFileSync(join('dashboard', name), 'utf8')).not.toMatch(
      /\b(document|window|location|localStorage|fetch)\b[.(]/,
    );
  });
});
