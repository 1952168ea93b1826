/** People are told once, together, again after a while, and when it is over; whatever channels and daemons do. */
import { describe, expect, test } from 'vitest';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import type { Alert, AlertsSpec } from '../../../src/incidents/alerts/ports.ts';
import { FOLD_MS } from '../../../src/incidents/alerts/rules/book.ts';
import type { AlertMessage } from '../../../src/incidents/alerts/rules/message.ts';
import { MAX_ATTEMPTS } from '../../../src/incidents/alerts/rules/queue.ts';
import { type ChannelSender, createAlertService } from '../../../src/incidents/alerts/service.ts';
import { refused, type DeliveryResult as Sent } from '../../../src/incidents/delivery-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const HOUR = 3_600_000;
const SPEC: AlertsSpec = {
  on: ['gave-up', 'freeze', 'crash-rate'],
  channels: [{ kind: 'slack', url: 'https://example.org/x' }],
  remindMs: 24 * HOUR,
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
  answer: () => Promise<Sent> = async () => ({ ok: true });
  #ids = 0;
  service = this.open();

  open(spec = SPEC) {
    const sender: ChannelSender = {
      ...{ id: 'slack-1', name: 'slack' },
      send: (message) => {
        this.sent.push(message);
        return this.answer();
      },
    };
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
        senders: ({ channels }) => channels.map(() => sender),
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
