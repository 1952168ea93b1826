import { describe, expect, test } from 'vitest';
import type { KeepwellConfig } from '../../../src/index.ts';
import { linesOf, load, oneProblem } from './support.ts';

const CHECK = 'checks: { a: { tcp: 80 } }';
const alerts = (text: string): string => `${CHECK}\nalerts: ${text}`;
const channels = (...items: readonly string[]): string => alerts(`{ channels: [${items.join(', ')}] }`);
const store = (text: string): string => `${CHECK}\nstore: ${text}`;

const SLACK = '{ slack: { url: "https://hooks.example/x" } }';
const URL_FORM = 'For example: https://example.org/hooks/keepwell';
const LIST = 'Write: channels: [{ slack: { url: "${SLACK_URL}" } }]';

describe('alerts', () => {
  test('without a word about them nobody is told', () => {
    expect(load(CHECK).alerts).toEqual({
      ...{ on: [], channels: [], remindMs: null, digest: null, quietHours: null },
    });
  });

  test('are read as the design writes them', () => {
    const text = `
on: [gave-up, freeze]
channels:
  - slack: { url: "\${SLACK_URL}" }
  - webhook: { url: "https://x.example/h/", headers: { Authorization: "Bearer \${TOKEN}" } }
  - command: { command: [./notify.sh, ops] }
    on: [crash, recovered, digest]
remind: 4h
digest: "08:30"
quiet_hours: { from: "22:00", to: "07:00", time_zone: UTC, except: [gave-up] }
time_zone: Europe/Berlin`;
    const env = { SLACK_URL: 'https://hooks.example/x', TOKEN: 'abc' };
    expect(load(`${CHECK}\nalerts:${text.replaceAll('\n', '\n  ')}`, { env }).alerts).toEqual({
      on: ['gave-up', 'freeze'],
      channels: [
        { kind: 'slack', url: 'https://hooks.example/x' },
        { kind: 'webhook', url: 'https://x.example/h/', headers: { Authorization: 'Bearer abc' } },
        { kind: 'command', command: ['./notify.sh', 'ops'], on: ['crash', 'recovered', 'digest'] },
      ],
      remindMs: 4 * 3_600_000,
      digest: { minutes: 510, timeZone: 'Europe/Berlin' },
      quietHours: {
        ...{ from: { minutes: 1_320, timeZone: 'UTC' }, to: { minutes: 420, timeZone: 'UTC' }, except: ['gave-up'] },
      },
    });
  });

  test('are about what restarting did not mend, and are told again after a day, unless something else is said', () => {
    expect(load(channels(SLACK)).alerts).toMatchObject({
      on: ['gave-up', 'freeze', 'crash-rate', 'host-silent', 'recovered'],
      remindMs: 24 * 3_600_000,
    });
    expect(load(alerts(`{ remind: never, channels: [${SLACK}] }`)).alerts.remindMs).toBeNull();
  });

  test.each([
    ['{}', `alerts: it is not said where alerts go | ${LIST}`],
    [`{ channels: ${SLACK} }`, `alerts.channels: must be a list, not a map | ${LIST}`],
    ['{ channels: slack }', `alerts.channels: must be a list, not a single value | ${LIST}`],
    [`{ on: freeze, channels: [${SLACK}] }`, 'alerts.on: must be a list, not a single value | Write: on: [freeze]'],
    [
      `{ on: [gave_up], channels: [${SLACK}] }`,
      'alerts.on[0]: must be crash, unhealthy, gave-up, freeze, crash-rate, host-silent or recovered, not "gave_up" | Did you mean "gave-up"?',
    ],
    [
      `{ on: [oom], channels: [${SLACK}] }`,
      'alerts.on[0]: must be crash, unhealthy, gave-up, freeze, crash-rate, host-silent or recovered, not "oom"',
    ],
    [
      `{ remind: 24, channels: [${SLACK}] }`,
      'alerts.remind: must be a duration, not "24" | Write 24s, not 24 (units: ms, s, m, h, d).',
    ],
    [
      `{ remind: 0s, channels: [${SLACK}] }`,
      'alerts.remind: must be longer than 0s | Write "never" for no reminder at all.',
    ],
    [
      `{ repeat_interval: 4h, channels: [${SLACK}] }`,
      'alerts.repeat_interval: unknown key "repeat_interval" | Keepwell\'s word for "repeat_interval" is remind.',
    ],
    [
      `{ receivers: [${SLACK}] }`,
      'alerts.receivers: unknown key "receivers" | Keepwell\'s word for "receivers" is channels.',
    ],
    [
      `{ colour: red, channels: [${SLACK}] }`,
      'alerts.colour: unknown key "colour" | Known here: on, channels, remind, digest, quiet_hours, time_zone.',
    ],
    [
      `{ digest: 8am, channels: [${SLACK}] }`,
      'alerts.digest: must be a time of day, not "8am" | Write hours and minutes, in quotes: "08:00" or "22:30".',
    ],
    [
      `{ time_zone: CEST5, channels: [${SLACK}] }`,
      'alerts.time_zone: "CEST5" is not a time zone | Write its name: Europe/Berlin, America/New_York or UTC.',
    ],
    [
      `{ quiet_hours: "22:00-07:00", channels: [${SLACK}] }`,
      'alerts.quiet_hours: must be a map, not a single value | Write: quiet_hours: { from: "22:00", to: "07:00" }',
    ],
    [
      `{ quiet_hours: { from: "22:00" }, channels: [${SLACK}] }`,
      'alerts.quiet_hours: it is not said when they end | Write: { from: "22:00", to: "07:00" }',
    ],
    [
      `{ quiet_hours: { from: "22:00", to: "22:00" }, channels: [${SLACK}] }`,
      'alerts.quiet_hours: ends when it begins | Write two different times: { from: "22:00", to: "07:00" }',
    ],
    [
      `{ quiet_hours: { start: "22:00", to: "07:00" }, channels: [${SLACK}] }`,
      'alerts.quiet_hours.start: unknown key "start" | Keepwell\'s word for "start" is from.',
    ],
    [
      `{ quiet_hours: { from: "22:00", to: "07:00", except: gave-up }, channels: [${SLACK}] }`,
      'alerts.quiet_hours.except: must be a list, not a single value | Write: except: [gave-up]',
    ],
    [
      '{ channels: [{ slack: { url: "https://a.example" }, on: [digest] }] }',
      'alerts.channels[0].on[0]: there is no digest | Say when it is sent, under "alerts": digest: "08:00"',
    ],
  ])('%s is refused, with what to write', (text, said) => {
    expect(oneProblem(alerts(text))).toBe(said);
  });

  test.each([
    [
      '{}',
      ': nothing says how people are told | Write one of: slack: { url: "${SLACK_URL}" }, webhook: …, discord: …, teams: …, ntfy: …, email: …, command: …',
    ],
    [
      '{ slack: { url: "https://a.example" }, command: { command: [a] } }',
      ': a channel is one thing, not slack and command | Write them as a list: { slack: … }, { command: … }',
    ],
    [
      '{ pigeon: me, slack: { url: "https://a.example" } }',
      '.pigeon: unknown key "pigeon" | Known here: webhook, slack, discord, teams, ntfy, email, command, on.',
    ],
    ['{ exec: { command: [a] } }', '.exec: unknown key "exec" | Keepwell\'s word for "exec" is command.'],
    [
      '{ slack: "https://a.example/x" }',
      '.slack: must be a map, not a single value | Write: slack: { url: https://a.example/x }',
    ],
    ['{ webhook: "${HOOK}" }', '.webhook: must be a map, not a single value | Write: webhook: { url: "${HOOK}" }'],
    ['{ slack: {} }', '.slack: the address is missing | Write: url: "${SLACK_URL}"'],
    [
      '{ slack: { webhook_url: "https://a.example" } }',
      '.slack.webhook_url: unknown key "webhook_url" | Keepwell\'s word for "webhook_url" is url.',
    ],
    ['{ webhook: {} }', '.webhook: the address is missing | Write: url: "https://example.com/hook"'],
    ['{ webhook: { url: "a b" } }', `.webhook.url: "a b" is not a URL | ${URL_FORM}`],
    [
      '{ webhook: { url: "ftp://a.example" } }',
      `.webhook.url: must be a URL that begins with http:// or https:// | ${URL_FORM}`,
    ],
    [
      '{ webhook: { url: "https://me:pw@a.example" } }',
      '.webhook.url: has a user or a password in it | A webhook can have a header instead: headers: { Authorization: "…" }',
    ],
    [
      '{ webhook: { url: "https://a.example", headers: { "a b": c } } }',
      '.webhook.headers."a b": "a b" cannot be the name of a header | Use letters, digits and dashes: Accept-Language.',
    ],
    [
      '{ webhook: { url: "https://a.example", headers: { A: "b\\nc" } } }',
      '.webhook.headers.A: contains a line break | A header is one line.',
    ],
    ['{ command: {} }', '.command: the command is missing | Write: command: [notify-send, Keepwell]'],
    [
      '{ command: [./notify, ops] }',
      '.command: must be a map, not a bare command | Write: command: { command: [./notify, ops] }',
    ],
    [
      '{ command: ./notify ops }',
      '.command: must be a map, not a bare command | Write: command: { command: [./notify, ops] }',
    ],
    [
      '{ command: { command: ./notify ops } }',
      '.command.command: a command is a list of texts, not one text | Write: command: [./notify, ops]',
    ],
    [
      '{ command: { command: "jq . | mail me" } }',
      '.command.command: a command is a list of texts, not one text | Write: command: [sh, -c, "one | two"]',
    ],
    [
      '{ command: { command: [] } }',
      '.command.command: the command is empty | Write: command: [notify-send, Keepwell]',
    ],
    [
      '{ command: { command: [""] } }',
      '.command.command[0]: the name of the program is empty | Name the program to run.',
    ],
    [
      '{ command: { command: [a], shell: true } }',
      '.command.shell: unknown key "shell" | Remove it, and write: command: [sh, -c, "one | two"]',
    ],
  ])('the channel %s is refused, with what to write', (text, said) => {
    expect(oneProblem(channels(text), { env: { HOOK: 'https://a.example' } })).toBe(`alerts.channels[0]${said}`);
  });

  test('two channels to one place are refused', () => {
    const said = 'alerts.channels[1]: leads to the same place as number 1 of the list | Remove one of them.';
    expect(oneProblem(channels(SLACK, SLACK))).toBe(said);
    expect(oneProblem(channels('{ command: { command: [a, b] } }', '{ command: { command: [a, b] } }'))).toBe(said);
    expect(load(channels('{ command: { command: [a, b] } }', '{ command: { command: [a b] } }')).alerts).toBeDefined();
  });

  test('what a variable held is in no message', () => {
    for (const held of ['https://u:hunter2@x.example', 'hunter2 is no URL', 'ftp://hunter2.example']) {
      const said = oneProblem(channels('{ slack: { url: "${SECRET}" } }'), { env: { SECRET: held } });
      expect(said).toMatch(/^alerts\.channels\[0\]\.slack\.url: /);
      expect(said).not.toContain('hunter2');
    }
  });

  test('all problems are told at once, each at its place', () => {
    expect(linesOf(alerts('{ on: [x], remind: soon, channels: [{ slack: {} }, { webhook: { url: 5 } }] }'))).toEqual([
      '2:16 alerts.on[0]: must be crash, unhealthy, gave-up, freeze, crash-rate, host-silent or recovered, not "x"',
      '2:28 alerts.remind: must be a duration, not "soon" | Write a whole number with its unit, largest unit first: 500ms, 10s, 1m30s, 1h, 7d.',
      '2:47 alerts.channels[0].slack: the address is missing | Write: url: "${SLACK_URL}"',
      '2:78 alerts.channels[1].webhook.url: must be text, not a number | Put it in quotes: "5".',
    ]);
  });
});

describe('the store', () => {
  test('is in the state directory and keeps a week, unless something else is said', () => {
    expect(load(CHECK).store).toEqual({ path: null, retentionMs: 7 * 86_400_000, fleet: null });
    expect(load(store('{ path: data/history.db, retention: 30d }')).store).toEqual({
      path: '/project/data/history.db',
      retentionMs: 30 * 86_400_000,
      fleet: null,
    });
  });

  test.each([
    ['history.db', 'store: must be a map, not a single value | Write: store: { path: history.db }'],
    ['30d', 'store: must be a map, not a single value | Write: store: { retention: 30d }'],
    ['[]', 'store: must be a map'],
    ['{ path: "" }', 'store.path: is empty; it must be a path | Give it a value, or remove the line.'],
    ['{ path: ~/history.db }', 'store.path: "~" is not expanded | Write ${HOME}/history.db.'],
    ['{ path: 5 }', 'store.path: must be text, not a number | Put it in quotes: "5".'],
    ['{ retention: 30 }', 'store.retention: must be a duration, not "30" | Write 30s, not 30 (units: ms, s, m, h, d).'],
    ['{ retention: 30 days }', 'store.retention: must be a duration, not "30 days" | Write 30d.'],
    ['{ retention: 0s }', 'store.retention: must be longer than 0s'],
    ['{ retention: 400d }', 'store.retention: is longer than a year | Use at most 365d.'],
    ['{ file: a.db }', 'store.file: unknown key "file" | Keepwell\'s word for "file" is path.'],
    ['{ keep: 30d }', 'store.keep: unknown key "keep" | Keepwell\'s word for "keep" is retention.'],
    ['{ retension: 30d }', 'store.retension: unknown key "retension" | Did you mean "retention"?'],
    ['{ size: 1GB }', 'store.size: unknown key "size" | Known here: path, retention, fleet.'],
    [
      'postgres://me:hunter2@db/shop',
      'store: must be a map, not a single value | Write: store: { fleet: "postgres://…" }',
    ],
    ['{ postgres: a }', 'store.postgres: unknown key "postgres" | Keepwell\'s word for "postgres" is fleet.'],
  ])('%s is refused, with what to write', (text, said) => {
    expect(oneProblem(store(text))).toBe(said);
  });
});

test('the type of a configuration object knows both, and what it allows is accepted', () => {
  const config: KeepwellConfig = {
    checks: { a: { tcp: 80 } },
    alerts: {
      on: ['freeze', 'recovered'],
      channels: [
        { slack: { url: 'https://a.example' }, on: ['crash', 'digest'] },
        { webhook: { url: 'https://b.example', headers: { A: 'b' } } },
        { command: { command: ['notify-send', 'Keepwell'] } },
      ],
      remind: 'never',
      digest: '08:00',
      quiet_hours: { from: '22:00', to: '07:00', except: ['gave-up'] },
      time_zone: 'Europe/Berlin',
    },
    store: { path: 'history.db', retention: '30d' },
  };
  const { alerts, store } = load(JSON.stringify(config));
  expect(alerts.channels.map(({ kind }) => kind)).toEqual(['slack', 'webhook', 'command']);
  expect(store).toEqual({ path: '/project/history.db', retentionMs: 30 * 86_400_000, fleet: null });
});
