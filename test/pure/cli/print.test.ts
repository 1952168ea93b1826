import { describe, expect, test } from 'vitest';
import type { AgentIssue } from '../../../src/agents/rules/views.ts';
import { fixedLines } from '../../../src/cli/commands/agents.ts';
import { crashTable } from '../../../src/cli/commands/crashes.ts';
import { noPaint, paintFor } from '../../../src/cli/print/colour.ts';
import { eventLine } from '../../../src/cli/print/event.ts';
import { localTime, relative } from '../../../src/cli/print/json.ts';
import { daemonLine, daemonRemarks, keepingLine, statusTable, verboseBlock } from '../../../src/cli/print/status.ts';
import { displayWidth, shorten, table } from '../../../src/cli/print/table.ts';
import { whyText } from '../../../src/cli/print/why.ts';
import type { ComponentView, ResourcesView, WhyView } from '../../../src/supervision/rules/views.ts';
import { event, exit, idle, NOW, status, view, why } from './views.ts';

describe('tables', () => {
  test('columns are aligned, the last one is not padded, empty cells are dashes', () => {
    const rows = [
      [{ text: 'a' }, { text: '' }, { text: 'long note' }],
      [{ text: 'bbb' }, { text: '日本' }, { text: '' }],
    ];
    expect(table(['X', 'Y', 'NOTE'], rows)).toEqual(['X    Y     NOTE', 'a    -     long note', 'bbb  日本']);
  });

  test('the last column is cut at the width of the terminal', () => {
    const [, row] = table(['X', 'NOTE'], [[{ text: 'a' }, { text: 'a very long note' }]], 12);
    expect(row).toBe('a  a very l…');
    expect(displayWidth(row!)).toBe(12);
  });

  test('colours do not disturb the alignment', () => {
    const paint = paintFor({ isTty: true }, {}, true);
    const rows = [
      [{ text: 'a', brush: paint.red }, { text: 'x' }],
      [{ text: 'bb' }, { text: 'y' }],
    ];
    expect(table(['N', 'V'], rows)).toEqual(['N   V', '\u001b[31ma\u001b[39m   x', 'bb  y']);
  });

  test.each([
    ['abc', 3],
    ['日本', 4],
    ['💥', 2],
    ['é', 1],
    ['e\u0301', 1],
    ['', 0],
  ])('%j is %i wide', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  test.each([
    ['日本語', 4, '日…'],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['abc', 0, ''],
  ])('%j in %i columns is %j', (text, columns, cut) => {
    expect(shorten(text, columns)).toBe(cut);
  });
});

describe('colours', () => {
  test.each([
    ['a terminal', true, {}, true, true],
    ['a pipe', false, {}, true, false],
    ['NO_COLOR', true, { NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR', true, { NO_COLOR: '' }, true, true],
    ['--no-color', true, {}, false, false],
    ['a dumb terminal', true, { TERM: 'dumb' }, true, false],
    ['FORCE_COLOR into a pipe', false, { FORCE_COLOR: '1' }, true, true],
    ['FORCE_COLOR=0', false, { FORCE_COLOR: '0' }, true, false],
    ['both', true, { FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
  ])('%s', (_what, isTty, env, wanted, expected) => {
    expect(paintFor({ isTty }, env, wanted).isColorSupported).toBe(expected);
  });
});

describe('status', () => {
  const MIB = 1024 * 1024;
  const resources: ResourcesView = {
    ...{ cpu_percent: 0.3, memory_bytes: 41.2 * MIB, soft_memory_bytes: null, fds: 23, threads: 11, processes: 1 },
    at: '2026-01-02T05:19:00.000Z',
  };
  const components = [
    view('api', { resources }),
    idle('worker', 'backing-off', { health: 'unhealthy', restarts: 3, note: 'exit code 7; restart in 4 s' }),
    idle('later', 'waiting', { note: 'waiting for worker' }),
    idle('old', 'stopped', {
      desired: 'stopped',
      last_exit: { ...exit, at: '2026-01-02T03:04:05.678Z', crash: false },
    }),
    idle('new', 'stopped', { desired: 'stopped' }),
    idle('lost', 'stopped'),
  ];

  test('as a table', () => {
    expect(statusTable(components, noPaint)).toEqual([
      'NAME    STATE        HEALTH     READY  PID    UPTIME  RESTARTS  CPU   MEM    NOTE',
      'api     running      healthy    yes    12345  2h15m   0         0.3%  41MiB',
      'worker  backing-off  unhealthy  no     -      -       3         -     -      exit code 7; restart in 4 s',
      'later   waiting      unknown    no     -      -       0         -     -      waiting for worker',
      'old     stopped      unknown    no     -      -       0         -     -      stopped by hand',
      'new     stopped      unknown    no     -      -       0         -     -      not started',
      'lost    stopped      unknown    no     -      -       0         -     -      wanted, but not running',
    ]);
  });

  test('without what is used, where the terminal has no room for it beside the notes', () => {
    const first = (columns: number, views = components) => statusTable(views, noPaint, columns)[0];
    expect(first(80)).toBe('NAME    STATE        HEALTH     READY  PID    UPTIME  RESTARTS  NOTE');
    expect(first(103)).not.toContain('MEM');
    expect(first(105)).toContain('CPU   MEM    NOTE');
    expect(first(80, [view('api', { resources })])).toContain('CPU   MEM    NOTE');
    expect(first(60, [view('api', { resources })])).not.toContain('MEM');
  });

  test.each<[string, Partial<ResourcesView>, string]>([
    [
      'everything',
      { soft_memory_bytes: 400 * MIB },
      'CPU 0.3 %   Memory 41 MiB of 400 MiB soft   Files 23   Threads 11',
    ],
    [
      'no limit, several processes',
      { processes: 3 },
      'CPU 0.3 %   Memory 41 MiB   Files 23   Threads 11   Processes 3',
    ],
    ['what is not known', { cpu_percent: null, fds: null }, 'CPU -   Memory 41 MiB   Threads 11'],
    ['a busy one', { cpu_percent: 187.4 }, 'CPU 187 %   Memory 41 MiB   Files 23   Threads 11'],
  ])('what is used, in words: %s', (_, more, text) => {
    const block = verboseBlock(view('api', { resources: { ...resources, ...more } }), noPaint, NOW);
    expect(block).toContain(`  Usage:    ${text}`);
  });

  test('in full', () => {
    const full = view('api', { depends_on: { temporal: 'ready', db: 'started' }, waiting_for: ['db'], adopted: true });
    expect(verboseBlock(full, noPaint, NOW)).toEqual([
      'api',
      '  Status:   ✓ Running        Health: ✓ Healthy      Ready: yes',
      '  PID:      12345            Uptime: 2h 15m         Restarts: 0',
      '  Run:      api~0abcdefgh123456, taken over from an earlier daemon',
      `  Started:  ${localTime(full.started_at!)} (2 h 15 min ago)`,
      '  Wanted:   running',
      '  Needs:    temporal ready, db started (not yet)',
      '  Tree:     all its processes are found and ended by their cgroup (v2)',
      '  Shim:     native, which sees the exact end of a run',
    ]);
  });

  test('why its runs do not get the native shim', () => {
    const shimOf = (shim: ComponentView['shim']) =>
      verboseBlock(view('api', { shim }), noPaint, NOW).filter((line) => line.includes('Shim:'));
    expect(shimOf({ kind: 'sh', why: 'there is no native one for riscv64' })).toEqual([
      '  Shim:     sh: there is no native one for riscv64',
    ]);
    expect(shimOf(null)).toEqual([]);
    expect(shimOf(undefined as unknown as null)).toEqual([]); // from an older daemon
  });

  test('in full, when it has given up', () => {
    const gone = idle('worker', 'gave-up', {
      health: 'unhealthy',
      note: 'gave up (limit): exit code 7; next try in 15 min',
      last_exit: { ...exit, at: '2026-01-02T05:18:05.678Z', crash: true },
      last_restart: { at: '2026-01-02T05:17:05.678Z', reason: 'exit code 7' },
      next_attempt_at: '2026-01-02T05:34:05.678Z',
      survivors: ['99 (sleep)'],
      tree_mechanism: null,
    });
    const text = verboseBlock(gone, noPaint, NOW).join('\n');
    expect(text).toContain('✗ Gave-up');
    expect(text).toContain('✗ Unhealthy');
    expect(text).toMatch(/Exited: {3}exit code 7, .* \(1 min ago\)/);
    expect(text).toMatch(/Next try: .*\(in 15 min\)/);
    expect(text).toMatch(/Leftover: 99 \(sleep\)/);
  });

  test('escapes from a component never reach the terminal', () => {
    const nasty = idle('worker', 'gave-up', { note: 'no such command: "\u001b]0;x\u0007ls"\nsecond line' });
    const lines = [...statusTable([nasty], noPaint), ...verboseBlock(nasty, noPaint, NOW)].join('\n');
    expect(lines).not.toMatch(/\u001b|\u0007/);
    expect(statusTable([nasty], noPaint)).toHaveLength(2);
  });

  test('the daemon is mentioned when something is wrong with it', () => {
    const good = status([]);
    expect(daemonRemarks(good)).toEqual([]);
    expect(daemonLine(good.daemon)).toBe(
      `daemon: pid 4711, version 0.1.0, guardian pid 4710, since ${localTime('2026-01-02T03:04:05.678Z')}`,
    );
    const bad = {
      ...good,
      daemon: {
        ...good.daemon,
        store: 'cannot write (disk full)',
        loop_delay_ms: 4000,
        alerts: 'slack did not take a message: it answered 401',
      },
    };
    expect(daemonRemarks(bad)).toEqual([
      'history: cannot write (disk full)',
      'the daemon was held up for 4s: the machine is overloaded or was suspended',
      'alerts: slack did not take a message: it answered 401',
    ]);
    expect(daemonLine({ ...good.daemon, running: false })).toBe('daemon: not running');
  });
});

describe('why', () => {
  test('the whole dossier', () => {
    const current = idle('worker', 'backing-off', { next_attempt_at: '2026-01-02T05:19:17.678Z' });
    expect(whyText(why(), { current, nowMs: NOW, paint: noPaint })).toEqual([
      'worker died: exit code 1 (3 min ago)',
      `  When:     ${localTime(why().at)}, after running for 2 s`,
      '  Crash:    12, run worker~0abcdefgh123456',
      "  Error:    ImportError: No module named 'yaml'",
      '  Cause:    the module yaml is not installed',
      '  Decision: restart in 1 s (1 of 10 in 10 min)',
      '  Rule:     backoff (1 restart in the window, 1 failure in a row, 3 earlier restarts)',
      '  Changed:  env LOG_LEVEL, command (since the last good run)',
      '  Now:      restart in 12 s',
      '',
      '  Dependencies at that time:',
      '    api: backing-off, not ready (needed: ready)',
      '',
      '  Stack:',
      '    File "main.py", line 3',
      '',
      '  Files:',
      '    main.py',
      '',
      '  Its last lines:',
      '    starting',
      "    ImportError: No module named 'yaml'",
    ]);
  });

  test.each([
    [view('worker'), 'running and ready, pid 12345, for 2 h 15 min'],
    [view('worker', { ready: false }), 'running, not ready, pid 12345'],
    [idle('worker', 'gave-up'), 'gave up; no further restart. "keepwell start worker" starts it now'],
    [idle('worker', 'gave-up', { next_attempt_at: '2026-01-02T05:34:05.678Z' }), 'gave up; quiet retry in 15 min.'],
    [idle('worker', 'waiting', { waiting_for: ['api', 'db'] }), 'waiting for api, db'],
    [idle('worker', 'stopped', { desired: 'stopped' }), 'stopped by hand; "keepwell start worker" starts it'],
    [idle('worker', 'starting', { note: 'gone for 3 s; watching for it to come back' }), 'gone for 3 s; watching'],
    [idle('worker', 'starting'), 'starting'],
    [idle('worker', 'completed'), 'completed'],
    [null, 'no longer in the configuration'],
  ])('what happens next', (current, expected) => {
    expect(whyText(why(), { current, nowMs: NOW, paint: noPaint }).join('\n')).toContain(`Now:      ${expected}`);
  });

  test('the last words are harmless', () => {
    const nasty = why({ log_tail: ['\u001b[2J\u001b]52;c;x\u0007bye\u202e'], error_message: 'a\nb' });
    const text = whyText(nasty, { current: null, nowMs: NOW, paint: noPaint });
    expect(text.join('\n')).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(text).toContain('    bye');
    expect(text).toContain('  Error:    ImportError: a b');
  });

  test('what it said last is named where neither an error nor a cause is known, as its incident is', () => {
    const context = { current: null, nowMs: NOW, paint: noPaint };
    const said = { error_type: null, error_message: 'no config' };
    expect(whyText(why({ ...said, root_cause: null }), context)).toContain('  Said:     no config');
    expect(whyText(why({ ...said, root_cause: 'the disk is full' }), context).join()).not.toContain('Said:');
  });

  test('of sessions and experiments only that is said which they have', () => {
    const said = (kind: 'session' | 'experiment', name: string, rule: string) => {
      const { counters } = why().rule;
      const theirs = why({ subject: { kind, name }, changed_since_good: null, rule: { name: rule, counters } });
      return whyText(theirs, { current: null, nowMs: NOW, paint: noPaint }).filter((line) =>
        /died|Rule|Changed|Now:/.test(line),
      );
    };
    expect(said('experiment', 'night/lr-3', 'retries')).toEqual([
      'experiment night/lr-3 died: exit code 1 (3 min ago)',
      '  Rule:     retries (1 failed attempt)',
    ]);
    expect(said('session', 'f00d', 'limit')).toEqual([
      'session f00d died: exit code 1 (3 min ago)',
      '  Rule:     limit (1 restart in the window, 1 failure in a row, 3 earlier restarts)',
    ]);
  });

  test('what it used in all its life is told where somebody knows', () => {
    const used = (usage: WhyView['exit']['usage']) =>
      whyText(why({ exit: { ...exit, usage } }), { current: null, nowMs: NOW, paint: noPaint }).filter((line) =>
        line.includes('Used:'),
      );
    expect(used({ max_rss_bytes: 432_013_312, cpu_ms: 3_240 })).toEqual([
      '  Used:     at most 412 MiB of memory, and 3.2 s of CPU time',
    ]);
    expect(used(null)).toEqual([]);
    expect(used(undefined as unknown as null)).toEqual([]); // from an older daemon
  });

  test('what could not be started has not died', () => {
    const never = why({ exit: { ...exit, code: null, spawn_error: 'no such command: "temporl"' } });
    const [head] = whyText(never, { current: null, nowMs: NOW, paint: noPaint });
    expect(head).toBe('worker could not be started: no such command: "temporl" (3 min ago)');
  });

  test('silence is said to be silence', () => {
    const quiet = why({
      log_tail: [],
      stack: [],
      related_files: [],
      dependencies: [],
      error_type: null,
      root_cause: null,
    });
    const text = whyText(quiet, { current: null, nowMs: NOW, paint: noPaint });
    expect(text.slice(-2)).toEqual(['  Its last lines:', '    (it wrote nothing)']);
    expect(text.some((line) => line.includes('Error:'))).toBe(false);
  });
});

test('crashes, newest first as they come', () => {
  const killed = why({ id: 13, error_type: null, exit: { ...exit, code: null, signal: 'SIGKILL', oom: true } });
  expect(crashTable([killed, why()], noPaint)).toEqual([
    'ID  WHEN                 NAME    UPTIME  EXIT                               DECISION',
    `13  ${localTime(why().at)}  worker  2 s     killed by SIGKILL (out of memory)  restart in 1 s (1 of 10 in 10 min)`,
    `12  ${localTime(why().at)}  worker  2 s     ImportError (exit code 1)          restart in 1 s (1 of 10 in 10 min)`,
  ]);
});

test('gaps that Docker left in logs of containers are counted, by a daemon that tells of them', () => {
  const logs = { mechanism: 'collapse-range', bytes: 2_048, dropped_bytes: 0, lost_bytes: 0, condition: null } as const;
  const said = (gaps?: number) =>
    keepingLine({ ...status([]).daemon, logs: { ...logs, gaps: gaps as number } }).join('');
  const start = 'logs: 2 KiB kept, old lines are cut off in place (collapse-range)';
  expect(said(2)).toBe(`${start}, 2 gaps in logs of containers (lines that Docker did not pass on)`);
  expect(said(1)).toBe(`${start}, one gap in logs of containers (lines that Docker did not pass on)`);
  expect(said(0)).toBe(start);
  expect(said()).toBe(start);
});

/** Docker's times are to the nanosecond. */
const GAP = { from: '2026-01-02T03:04:05.123456789Z', to: '2026-01-02T03:04:07.000000001Z' };

test.each([
  [event('component.started', { pid: 5 }), 'api  started, pid 5'],
  [event('component.starting', { attempt: 'first' }), 'api  starting'],
  [event('component.starting', { attempt: 'quiet' }), 'api  starting (quiet retry)'],
  [event('component.waiting', { for: ['db', 'mq'] }), 'api  waiting for db, mq'],
  [
    event('component.exited', { exit: 'exit code 7', uptime_ms: 2040, decision: 'restart in 1 s', rule: 'backoff' }),
    'api  exit code 7; ran for 2 s',
  ],
  [event('component.killed', { grace_ms: 10_000 }), 'api  did not end within 10 s, SIGKILL sent'],
  [event('component.gave-up', { decision: 'gave up: 10 restarts in 10 min' }), 'api  gave up: 10 restarts in 10 min'],
  [
    event('agent.crashed', { task: 'SPEC-111', exit: { ...exit, code: null, signal: 'SIGKILL', oom: true } }),
    'api  crashed for SPEC-111: killed by SIGKILL (out of memory)',
  ],
  [event('agent.crashed', { task: null, why: 'process 5 is gone' }), 'api  crashed: process 5 is gone'],
  [event('agent.respawned', { task: 'SPEC-111', number: 1, of: 3 }), 'api  respawned for SPEC-111 (1 of 3)'],
  [event('session.extended', { expires_at: GAP.to }), `api  session extended until ${localTime(GAP.to)}`],
  [
    event('agents.cleaned', { file: '/srv/agents.json', entries: ['5 (architect, A)', '6 (coder)'] }),
    'api  removed dead entries from /srv/agents.json: 5 (architect, A), 6 (coder)',
  ],
  [event('incident.opened', { incident: 3, title: 'db: no space' }), 'api  incident 3: db: no space'],
  [
    event('incident.resolved', { incident: 3, title: 'db: no space', count: 1 }),
    'api  incident 3 resolved, seen once: db: no space',
  ],
  [
    event('incident.affects', { incident: 3, title: 'db: no space', component: 'web' }),
    'api  web is also affected by incident 3: db: no space',
  ],
  [
    event('alert.failed', { channel: 'slack at x', problem: 'it answered 404', given_up: true }),
    'api  alert to slack at x failed: it answered 404; no further tries',
  ],
  [event('component.from-the-future', { a: 1, b: { c: 2 } }), 'api  component.from-the-future a=1 b={"c":2}'],
  [event('constructor', {}), 'api  constructor'],
  [
    event('component.backing-off', { in_ms: 1_800, decision: 'restart in 1.8 s\n(2 of 10)' }),
    'api  restart in 1.8 s (2 of 10)',
  ],
  [event('component.backing-off', { in_ms: 1_800 }), 'api  restart in 1.8 s'],
  [event('daemon.started', { pid: 9, version: '1.2.3', respawned: false }), 'daemon  started, pid 9, version 1.2.3'],
  [
    event('daemon.started', { pid: 9, version: '1.2.3', respawned: true }),
    'daemon  started, pid 9, version 1.2.3; the guardian brought it back',
  ],
  [event('daemon.ended', { how: 'down' }), 'daemon  ended: everything was stopped ("keepwell down")'],
  [event('daemon.ended', { how: 'toString' }), 'daemon  ended: toString'],
  [
    event('store.quarantined', { file: 'history.db.1', problem: 'the file is not a database' }),
    'api  the history was damaged (the file is not a database); it was moved to history.db.1 and a new one was begun',
  ],
  [
    event('logs.gap', { component: 'api', count: 1, from: GAP.from, to: GAP.to }),
    `api  lines of api are missing in its log: Docker did not pass them on (written from ${localTime(GAP.from)} to ${localTime(GAP.to)})`,
  ],
  [
    event('logs.gap', { component: 'api', count: 3, from: GAP.from, to: GAP.to }),
    `api  lines of api are missing in its log, 3 times: Docker did not pass them on (written from ${localTime(GAP.from)} to ${localTime(GAP.to)})`,
  ],
  [event('store.events-lost', { after: 7, reason: 'x' }), 'api  events after number 7 are lost: x'],
  [event('component.exited', { exit: '\u001b[2Jx', uptime_ms: 1, decision: 'a' }), 'api  x; ran for 1 ms'],
  [event('component.exited', { exit: 'could not be started: x', uptime_ms: 0 }), 'api  could not be started: x'],
])('event %#', (one, expected) => {
  expect(eventLine(one, noPaint)).toBe(`${localTime(one.at)}     17  ${expected}`);
});

test.each([
  ['2026-01-02T05:16:05.678Z', '3 min ago'],
  ['2026-01-02T05:19:17.678Z', 'in 12 s'],
  ['2026-01-02T05:19:05.600Z', 'just now'],
  ['2026-01-02T05:19:05.700Z', 'now'],
  ['nonsense', 'nonsense'],
])('%s is %s', (iso, expected) => {
  expect(relative(iso, NOW)).toBe(expected);
});

test('the uptime of a crash is the same in the list and in its own account', () => {
  const crash = why({ uptime_ms: 12_600 });
  expect(crashTable([crash], noPaint)[1]).toContain('  13 s  ');
  expect(whyText(crash, { current: null, nowMs: NOW, paint: noPaint }).join('\n')).toContain('after running for 13 s');
});

test('whether it is ready is unknown where nobody asks', () => {
  expect(statusTable([view('api', { health: 'unknown', ready: false })], noPaint)[1]).toMatch(/unknown {2}unknown/);
  expect(statusTable([view('api', { health: 'healthy', ready: false })], noPaint)[1]).toMatch(/healthy {2}no/);
});

test('an issue about which nothing was done does not say "none", and a ticket is named with what was done', () => {
  const issue: AgentIssue = {
    type: 'zombie_process',
    agent_pid: 7,
    agent_type: 'coder',
    task_id: 'T-1',
    error: 'process 7 has ended, and its parent does not reap it',
    action_taken: 'none',
    bug_reported: false,
    bug_number: null,
    at: null,
  };
  const fixed = [issue, { ...issue, action_taken: 'cleaned', bug_number: 3 }];
  expect(fixedLines({ fixed })).toEqual([
    'fixed: zombie_process coder T-1 pid 7: process 7 has ended, and its parent does not reap it',
    'fixed: zombie_process coder T-1 pid 7: process 7 has ended, and its parent does not reap it (cleaned, BUG-003)',
  ]);
});
