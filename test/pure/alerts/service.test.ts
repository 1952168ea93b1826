/** People are told once, together, again after a while, and when it is over; whatever channels and daemons do. */
import { describe, expect, test } from 'vitest';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { Alert, AlertsSpec } from '../../../src/incidents/alerts/ports.ts';
import { type ChannelTopic, FOLD_MS } from '../../../src/incidents/alerts/rules/book.ts';
import type { DigestSource } from '../../../src/incidents/alerts/rules/digest.ts';
import type { AlertMessage } from '../../../src/incidents/alerts/rules/message.ts';
import { MAX_ATTEMPTS } from '../../../src/incidents/alerts/rules/queue.ts';
import { createAlertService, topicsOf } from '../../../src/incidents/alerts/service.ts';
import { refused, type DeliveryResult as Sent } from '../../../src/incidents/delivery-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HOUR = 3_600_000;
const SPEC: AlertsSpec = {
  on: ['gave-up', 'freeze', 'crash-rate', 'recovered'],
  channels: [{ kind: 'slack', url: 'https://example.org/x' }],
  remindMs: 24 * HOUR,
  digest: null,
  quietHours: null,
};

const alert = (n: number, over: Partial<Alert> = {}): Alert => ({
  kind: 'gave-up',
  key: `incident ${n}`,
  subject: { kind: 'component', name: `c${n}` },
  text: `c${n} does not run`,
  incident: n,
  ticket: null,
  ...over,
});

class World {
  readonly clock = new FakeClock();
  readonly sent: AlertMessage[] = [];
  readonly told: string[] = [];
  kept: string | null = null;
  readonly bySender: string[][] = [];
  history: (since: number) => DigestSource = () => ({ crashes: [], incidents: [], gaveUp: [] });
  answer: () => Promise<Sent> = async () => ({ ok: true });
  #ids = 0;
  service = this.open();

  open(spec = SPEC) {
    return createAlertService(
      {
        ...{ clock: this.clock, log: silentLog, failpoints: noFailpoints, project: () => 'shop' },
        memory: {
          read: () => this.kept,
          write: (text) => {
            this.kept = text;
          },
        },
        handling: () => ({ isAcknowledged: false, silentMs: 0 }),
        newId: () => {
          this.#ids += 1;
          return `id-${this.#ids}`;
        },
        digest: (since) => this.history(since),
        senders: (of) =>
          of.channels.map((channel, index) => ({
            ...{ id: `slack-${index + 1}`, name: 'slack', on: topicsOf(of, channel) },
            send: (message) => {
              this.sent.push(message);
              this.bySender[index] = [...(this.bySender[index] ?? []), message.text];
              return this.answer();
            },
          })),
        tell: (type, data) => void this.told.push(`${type} ${String(data['given_up'] ?? '')}`.trim()),
      },
      spec,
    );
  }
  get texts() {
    return this.sent.map(({ text }) => text);
  }
}

describe('telling', () => {
  test('one alert is one message, a few seconds later, and none for the same key while it is open', async () => {
    const world = new World();
    world.service.raise(alert(1));
    expect(world.sent).toEqual([]);
    await world.clock.advance(FOLD_MS);
    for (let again = 0; again < 5; again += 1) world.service.raise(alert(1));
    await world.clock.advance(HOUR);
    expect(world.texts).toEqual(['[shop] c1 does not run']);
    expect(world.told).toEqual(['alert.sent']);
  });

  test('a storm is one message that names the first and counts the rest', async () => {
    const world = new World();
    for (let n = 1; n <= 40; n += 1) world.service.raise(alert(n));
    await world.clock.advance(FOLD_MS + 1_000);
    expect(world.texts).toEqual(['[shop] 40 problems: c1 does not run; c2 does not run; c3 does not run; and 37 more']);
    expect(world.sent[0]?.alerts).toHaveLength(40);
  });

  test('what is still open is told again after the interval, with the words of that time', async () => {
    const world = new World();
    world.service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    world.service.raise(alert(1, { text: 'c1 does not run; affected: web', ticket: 3 }));
    await world.clock.advance(24 * HOUR);
    expect(world.texts.slice(1)).toEqual(['[shop] Still: c1 does not run; affected: web (BUG-003)']);
  });

  test('the end is told of what was told, and of nothing else', async () => {
    const world = new World();
    world.service.raise(alert(1));
    world.service.raise(alert(2));
    world.service.clear('incident 2');
    await world.clock.advance(FOLD_MS);
    world.service.clear('incident 1');
    world.service.clear('incident 1');
    await world.clock.advance(25 * HOUR);
    expect(world.texts).toEqual(['[shop] c1 does not run', '[shop] Recovered: c1 (was: c1 does not run)']);
  });

  test('what was told as many crashes is told once more when it is given up, not the other way round', async () => {
    const world = new World();
    world.service.raise(alert(1, { kind: 'crash-rate', text: '11 crashes' }));
    await world.clock.advance(FOLD_MS);
    world.service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    world.service.raise(alert(1, { kind: 'crash-rate', text: '12 crashes' }));
    await world.clock.advance(HOUR);
    expect(world.texts).toEqual(['[shop] 11 crashes', '[shop] c1 does not run']);
  });

  test('what a channel refuses is said until it takes something again, also by the next daemon', async () => {
    const world = new World();
    expect(world.service.lost()).toBeNull();
    world.answer = async () => refused('it answered 401');
    for (const n of [1, 2]) {
      world.service.raise(alert(n));
      await world.clock.advance(FOLD_MS);
    }
    expect(world.open().lost()).toMatch(/^slack did not take 2 messages, last 20\d\d-.*Z: it answered 401$/);
    world.answer = async () => ({ ok: true });
    const next = world.open();
    next.raise(alert(3));
    await world.clock.advance(FOLD_MS);
    expect(next.lost()).toBeNull();
  });

  test('kinds that nobody asked for are not told, and without channels nothing is kept', async () => {
    const world = new World();
    const service = world.open({ ...SPEC, on: ['freeze'] });
    service.raise(alert(1));
    world.open({ ...SPEC, channels: [] }).raise(alert(2));
    await world.clock.advance(HOUR);
    expect([world.sent, world.kept]).toEqual([[], null]);
  });

  test('secrets, escapes and long texts do not get out', async () => {
    const world = new World();
    const text = `\u001b[31mpassword=hunter2hunter2 \u202e${'x'.repeat(9_999)}`;
    world.service.raise(alert(1, { text }));
    await world.clock.advance(FOLD_MS);
    expect(world.texts[0]).not.toMatch(/hunter2|\u001b|\u202e/);
    expect(world.texts[0]!.length).toBeLessThan(600);
  });
});

describe('trouble', () => {
  test('a channel that fails is tried again with growing pauses, then given up; it is said twice', async () => {
    const world = new World();
    world.answer = async () => ({ ok: false, problem: 'it answered 500', retry: true, pauseMs: null });
    world.service.raise(alert(1));
    await world.clock.advance(24 * HOUR - 1);
    expect(world.sent).toHaveLength(MAX_ATTEMPTS);
    expect(new Set(world.sent.map(({ id }) => id)).size).toBe(1);
    expect(world.told).toEqual(['alert.failed false', 'alert.failed true']);
  });

  test('a channel that refuses for good is not asked again', async () => {
    const world = new World();
    world.answer = async () => ({ ok: false, problem: 'it answered 404', retry: false, pauseMs: null });
    world.service.raise(alert(1));
    await world.clock.advance(HOUR);
    expect(world.sent).toHaveLength(1);
    expect(world.told).toEqual(['alert.failed true']);
  });

  test('a channel that hangs holds up nothing, and later messages come after it', async () => {
    const world = new World();
    let finish: (sent: Sent) => void = () => {};
    world.answer = () => new Promise((resolve) => (finish = resolve));
    world.service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    world.service.raise(alert(2));
    await world.clock.advance(HOUR);
    expect(world.sent).toHaveLength(1);
    finish({ ok: true });
    await world.clock.advance(1);
    expect(world.texts).toEqual(['[shop] c1 does not run', '[shop] c2 does not run']);
  });

  test('the next daemon tells nothing twice, and goes on with what was under way', async () => {
    const world = new World();
    world.service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    world.answer = () => new Promise(() => {});
    world.service.raise(alert(2));
    await world.clock.advance(FOLD_MS);
    // It is killed while the second message is on its way; nobody knows whether it arrived.
    const before = world.sent.length;
    world.answer = async () => ({ ok: true });
    const next = world.open();
    next.raise(alert(1));
    next.raise(alert(2));
    await world.clock.advance(HOUR);
    expect(world.sent.slice(before).map(({ id }) => id)).toEqual([world.sent[before - 1]!.id]);
  });

  test('a book that cannot be read is begun anew', async () => {
    const world = new World();
    world.kept = '{"book":';
    const service = world.open();
    service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    expect(world.sent).toHaveLength(1);
  });

  test('a clock that jumps reminds nobody', async () => {
    const world = new World();
    world.service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    world.clock.jumpWall(365 * 24 * HOUR);
    await world.clock.advance(HOUR);
    expect(world.sent).toHaveLength(1);
  });
});

describe('what each channel is told of', () => {
  const [slack] = SPEC.channels;
  const two = (first: readonly ChannelTopic[], second: readonly ChannelTopic[]): AlertsSpec => ({
    ...SPEC,
    channels: [first, second].map((on) => ({ ...slack!, on })),
  });

  test('is its own list, also when the same problem says more to another one', async () => {
    const world = new World();
    const service = world.open(two(['crash', 'recovered'], ['gave-up']));
    service.raise(alert(1, { kind: 'crash', text: 'c1 crashed' }));
    await world.clock.advance(FOLD_MS);
    service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    service.clear('incident 1');
    await world.clock.advance(HOUR);
    expect(world.bySender).toEqual([
      ['[shop] c1 crashed', '[shop] Recovered: c1 (was: c1 crashed)'],
      ['[shop] c1 does not run'],
    ]);
  });

  test('an incident is known when everybody who asks for that kind has an alert about it', () => {
    const world = new World();
    const service = world.open(two(['crash'], ['crash-rate']));
    service.raise(alert(1, { kind: 'crash' }));
    expect([service.knows(1, 'crash'), service.knows(1, 'crash-rate')]).toEqual([true, false]);
    service.raise(alert(1, { kind: 'crash-rate' }));
    expect(service.knows(1, 'crash-rate')).toBe(true);
  });

  test('a book that was one for all channels is one for each of them', async () => {
    const world = new World();
    const moment = { bootId: world.clock.bootId, mono: world.clock.now(), wall: world.clock.wallNow() };
    const open = [{ alert: alert(1), since: moment, toldAt: moment }];
    world.kept = JSON.stringify({ book: { open, over: [], untoldSince: null }, queues: {} });
    const service = world.open(two(['gave-up', 'recovered'], ['gave-up', 'recovered']));
    service.raise(alert(1));
    service.clear('incident 1');
    await world.clock.advance(HOUR);
    const said = ['[shop] Recovered: c1 (was: c1 does not run)'];
    expect(world.bySender).toEqual([said, said]);
  });
});

describe('a crash that comes again and again', () => {
  const crashed = alert(1, { kind: 'crash', text: 'c1 crashed' });

  test('is told with its end, then after ever longer pauses, and what is given up at once', async () => {
    const world = new World();
    const service = world.open({ ...SPEC, on: ['crash', 'gave-up', 'recovered'] });
    for (let minute = 0; minute < 60; minute += 1) {
      service.raise(crashed);
      await world.clock.advance(30_000);
      service.clear('incident 1');
      await world.clock.advance(30_000);
    }
    // At once, after 10 minutes, and after 20 more.
    expect(world.texts.filter((text) => text === '[shop] c1 crashed')).toHaveLength(3);
    service.raise(crashed);
    service.raise(alert(1));
    await world.clock.advance(FOLD_MS);
    expect(world.texts.at(-1)).toBe('[shop] c1 does not run');
  });

  test('is news again after a quiet day', async () => {
    const world = new World();
    const service = world.open({ ...SPEC, on: ['crash'] });
    for (const _ of [1, 2]) {
      service.raise(crashed);
      await world.clock.advance(FOLD_MS);
      service.clear('incident 1');
      await world.clock.advance(24 * HOUR);
    }
    expect(world.texts).toEqual(['[shop] c1 crashed', '[shop] c1 crashed']);
  });
});

const at = (hours: number, minutes = 0) => ({ minutes: hours * 60 + minutes, timeZone: 'Europe/Berlin' });

describe('quiet hours', () => {
  // The world begins at midnight UTC, which is one o'clock in Berlin.
  const quiet: AlertsSpec = {
    ...SPEC,
    on: ['crash', 'gave-up', 'recovered'],
    quietHours: { from: at(22), to: at(7), except: ['gave-up'] },
  };

  test('hold back what can wait, and tell all of it in one message when they end', async () => {
    const world = new World();
    const service = world.open(quiet);
    service.raise(alert(1, { kind: 'crash', text: 'c1 crashed' }));
    service.raise(alert(2, { kind: 'crash', text: 'c2 crashed' }));
    await world.clock.advance(HOUR);
    service.clear('incident 2');
    await world.clock.advance(5 * HOUR - 1_000);
    expect(world.sent).toEqual([]);
    expect(service.view()).toMatchObject({ quiet_until: '2026-01-01T06:00:00.000Z' });
    await world.clock.advance(2_000);
    expect(world.texts).toEqual(['[shop] c1 crashed. Recovered: c2 (was: c2 crashed)']);
    expect(service.view().quiet_until).toBeNull();
  });

  test('what is given up is told all the same, and so is its end', async () => {
    const world = new World();
    const service = world.open(quiet);
    service.raise(alert(1, { kind: 'crash', text: 'c1 crashed' }));
    service.raise(alert(2));
    await world.clock.advance(FOLD_MS);
    service.clear('incident 2');
    await world.clock.advance(FOLD_MS);
    expect(world.texts).toEqual(['[shop] c2 does not run', '[shop] Recovered: c2 (was: c2 does not run)']);
  });

  test('what was held back outlives the daemon', async () => {
    const world = new World();
    const first = world.open(quiet);
    first.raise(alert(1, { kind: 'crash', text: 'c1 crashed' }));
    await first.close();
    await world.clock.advance(HOUR);
    world.open(quiet);
    await world.clock.advance(6 * HOUR);
    expect(world.texts).toEqual(['[shop] c1 crashed']);
  });
});

describe('the digest', () => {
  const daily: AlertsSpec = { ...SPEC, digest: at(8, 30) };
  const DIGEST =
    '[shop] Digest since 2026-01-01 00:00 UTC: 3 crashes (api 2, db 1); nothing is open; no longer restarted: db';

  const busy = (): World => {
    const world = new World();
    const of = (name: string) => ({ subject: { name } });
    world.history = () => ({ crashes: [of('db'), of('api'), of('api')], incidents: [], gaveUp: ['db'] });
    return world;
  };

  test('comes once a day at its time, with what happened since the last one', async () => {
    const world = busy();
    const service = world.open(daily);
    expect(service.view().next_digest).toBe('2026-01-01T07:30:00.000Z');
    await world.clock.advance(7.5 * HOUR - 1_000);
    expect(world.sent).toEqual([]);
    await world.clock.advance(2_000);
    expect(world.texts).toEqual([DIGEST]);
    expect(world.sent[0]).toMatchObject({
      alerts: [],
      digest: { since: '2026-01-01T00:00:00.000Z', crashes: 3, crashed: [{ name: 'api', crashes: 2 }, {}] },
    });
    await world.clock.advance(48 * HOUR);
    expect(world.texts.slice(1).map((text) => text.slice(0, 41))).toEqual([
      '[shop] Digest since 2026-01-01 07:30 UTC:',
      '[shop] Digest since 2026-01-02 07:30 UTC:',
    ]);
  });

  test('is neither lost nor doubled when the daemon is away, or dies before or after it is written down', async () => {
    const world = busy();
    await world.open(daily).close();
    const before = world.kept!;
    await world.clock.advance(10 * HOUR);
    const late = world.open(daily);
    await world.clock.advance(1);
    expect(world.texts.map((text) => text.slice(0, 41))).toEqual(['[shop] Digest since 2026-01-01 00:00 UTC:']);
    await late.close();
    const after = world.kept!;
    for (const [kept, times] of [
      [after, 1],
      [before, 2], // nothing of it was on the disk: for the world that died it is the first
    ] as const) {
      world.kept = kept;
      const next = world.open(daily);
      await world.clock.advance(1);
      await next.close();
      expect(world.sent).toHaveLength(times);
    }
  });

  test('goes to channels with a list of their own only when they ask for it', async () => {
    const world = busy();
    const [slack] = SPEC.channels;
    const channels = [
      { ...slack!, on: ['gave-up'] as const },
      { ...slack!, on: ['digest'] as const },
    ];
    world.open({ ...daily, channels });
    await world.clock.advance(8 * HOUR);
    expect([world.bySender[0], world.bySender[1]?.length]).toEqual([undefined, 1]);
  });

  test('a clock that was set back a year does not silence it for a year', async () => {
    const world = busy();
    world.clock.jumpWall(365 * 24 * HOUR);
    await world.open(daily).close();
    world.clock.jumpWall(-365 * 24 * HOUR);
    world.open(daily);
    await world.clock.advance(8 * HOUR);
    expect(world.sent).toHaveLength(1);
  });
});
