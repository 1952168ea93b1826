/** All that one screen shows: what needs attention comes first, and nothing is read twice for nothing. */
import { describe, expect, test } from 'vitest';
import type { MonoMs, WallMs } from '../../../src/base/pure/ids.ts';
import { Overview } from '../../../src/dashboard/overview.ts';
import { attention } from '../../../src/dashboard/rules/attention.ts';
import { incidentsView } from '../../../src/incidents/rules/view.ts';
import type { ComponentView, DaemonView, EventView } from '../../../src/supervision/rules/views.ts';
import { component, event } from '../../edge/http/fake-control.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const DAEMON: DaemonView = {
  ...{ running: true, answers: true, pid: 1, version: '1.0.0', started_at: null, store: 'ok', loop_delay_ms: 0 },
  ...{ guardian_pid: null, logs: null, sessions: null, alerts: null },
};
const down = (name: string): ComponentView => ({
  ...component(name),
  state: 'gave-up',
  ready: false,
  health: 'unhealthy',
});
const NOW = 1_000_000 as WallMs;

describe('attention', () => {
  const shown = (components: ComponentView[], incidents: Parameters<typeof incidentsView>[0], daemon = DAEMON) =>
    attention({ daemon, components }, incidentsView(incidents).incidents, NOW).map(
      ({ kind, name, affects }) => `${kind} ${name}${affects.length > 0 ? ` (${affects.join(', ')})` : ''}`,
    );
  const subject = (name: string) => ({ kind: 'component', name }) as const;

  test('is empty while all is well', () => {
    expect(shown([component('api')], [])).toEqual([]);
  });

  test('an incident names all that it is about, and these do not come again', () => {
    const incident = incidentOf(1, { subject: subject('db'), subjects: [subject('db')], affected: ['api', 'web'] });
    expect(shown([down('db'), down('api'), down('web'), down('mail')], [incident])).toEqual([
      'incident db (api, web)',
      'component mail',
    ]);
  });

  test('what somebody deals with comes last; a silence that is over counts no more', () => {
    const of = (id: number, name: string) => ({ subject: subject(name), subjects: [subject(name)], affected: [], id });
    const incidents = [
      incidentOf(1, { ...of(1, 'a'), acknowledgedAt: NOW }),
      incidentOf(2, { ...of(2, 'b'), silencedUntil: (NOW + 1) as WallMs }),
      incidentOf(3, { ...of(3, 'c'), silencedUntil: NOW }),
    ];
    expect(shown([down('d')], incidents)).toEqual(['incident c', 'component d', 'incident a', 'incident b']);
  });

  test('trouble of the daemon itself comes first', () => {
    expect(shown([down('api')], [], { ...DAEMON, store: 'the disk is full' })).toEqual([
      'daemon null',
      'component api',
    ]);
  });
});

describe('the overview', () => {
  function world() {
    const behaviour = { readingTakesMs: 0 };
    let spent = 0;
    const real = new FakeClock();
    const clock = {
      now: () => (real.now() + spent) as MonoMs,
      wallNow: () => real.wallNow(),
      advance: (ms: number) => real.advance(ms),
    };
    const read: string[] = [];
    const listeners: ((event: EventView) => void)[] = [];
    const components = [component('api'), component('worker')];
    const overview = new Overview({
      clock,
      history: {
        runs: ({ component: name }) => {
          read.push(String(name));
          spent += behaviour.readingTakesMs;
          return [];
        },
        probes: () => [],
      },
      project: () => 'shop',
      daemon: () => DAEMON,
      components: () => components,
      incidents: () => [],
      samples: () => [],
      subscribe: (listener) => void listeners.push(listener),
    });
    const told = (name: string, type = 'exited') => {
      for (const listener of listeners) listener({ ...event(1), type, subject: { kind: 'component', name } });
    };
    return { clock, read, overview, told, components, world: behaviour };
  }

  test('reads the day of each component once, and again only after something happened or a minute', async () => {
    const { overview, read, told, clock } = world();
    await overview.view();
    await overview.view();
    expect(read).toEqual(['api', 'worker']);
    told('api');
    await overview.view();
    expect(read).toHaveLength(2);
    await clock.advance(5_000);
    await overview.view();
    expect(read.slice(2)).toEqual(['api']);
    await clock.advance(60_000);
    await overview.view();
    expect(read.slice(3)).toEqual(['worker', 'api']);
  });

  test('is read when the page is opened, before anybody asks', async () => {
    const { read, told } = world();
    told('shop', 'dashboard.opened');
    expect(read).toEqual(['api', 'worker']);
  });

  test('of many, a few are read anew for each answer, those that were not for the longest time first', async () => {
    const { overview, read, clock, components, world: behaviour } = world();
    components.push(component('mail'));
    await overview.view();
    behaviour.readingTakesMs = 10;
    await clock.advance(60_000);
    read.length = 0;
    for (const _ of components) await overview.view();
    expect(read).toEqual(['api', 'worker', 'mail']);
    await clock.advance(300_000);
    read.length = 0;
    await overview.view();
    expect(read).toHaveLength(3);
  });

  test('is the same to the letter while nothing happens, so that it need not be sent again', async () => {
    const { overview, clock, components } = world();
    const waits = (restart: string) => ({
      ...component('mail'),
      ...({ state: 'backing-off', note: `exit code 1; restart in ${restart}` } as const),
      next_attempt_at: '2026-01-02T03:04:05.000Z',
    });
    components.push(waits('5 s'));
    const before = JSON.stringify(await overview.view());
    await clock.advance(1_000);
    components[2] = { ...waits('4 s'), next_attempt_at: '2026-01-02T03:04:05.003Z', uptime_ms: 99 };
    expect(JSON.stringify(await overview.view())).toBe(before);
    expect(before).toContain('"note":"exit code 1"');
  });
});
