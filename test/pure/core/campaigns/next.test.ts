import { describe, expect, test } from 'vitest';
import { MAX_UNCLEAR, next } from '../../../../src/campaigns/rules/next.ts';
import { type AttemptEnd, type CampaignEvent, type Request, stateFrom } from '../../../../src/campaigns/rules/state.ts';
import {
  campaignSpec,
  experimentSpec,
  FakeBook,
  fine,
  HEALTHY,
  play,
  unhealthy,
} from '../../../support/campaign-world.ts';

const [a, b, c] = [experimentSpec('a'), experimentSpec('b', { service: 'web' }), experimentSpec('c')];
const kinds = (requests: readonly Request[]): string => requests.map(({ kind }) => kind).join(' ');
const over = (end: AttemptEnd): CampaignEvent => ({ kind: 'attempt-over', end, durationMs: 5 });
const exited = (code: number): CampaignEvent => over({ kind: 'exited', code });

/** Runs it with these answers to the first requests of their kinds, and good ones after that. */
function playWith(
  spec: ReturnType<typeof campaignSpec>,
  odd: Partial<Record<Request['kind'], readonly CampaignEvent[]>>,
) {
  const left = new Map(Object.entries(odd).map(([kind, events]) => [kind, [...events]]));
  const book = new FakeBook(spec);
  const requests = play(spec, book, (request) => left.get(request.kind)?.shift() ?? fine(request));
  return { book, requests, finish: requests.at(-1) as Extract<Request, { kind: 'finish' }> };
}

describe('a campaign', () => {
  test('starts the services it needs once, and runs the experiments in the order in which they were written', () => {
    const { requests, finish, book } = playWith(campaignSpec([a, b, c]), {});
    expect(requests[0]).toEqual({ kind: 'start-services', services: ['gpu', 'web'], again: false });
    const ran = requests.filter((request) => request.kind === 'run').map(({ open }) => open.attempt);
    expect(ran).toEqual(['uid-0-1', 'uid-1-1', 'uid-2-1']);
    expect(kinds(requests)).toBe('start-services check-health run check-health run check-health run finish');
    expect(finish).toMatchObject({ outcome: 'done', reason: null });
    expect(book.experiments.map(({ state }) => state)).toEqual(['done', 'done', 'done']);
  });

  test('writes an attempt down before it is begun', () => {
    const spec = campaignSpec([a]);
    const context = { spec, attemptId: () => 'id' };
    const up = next({ ...stateFrom(new FakeBook(spec).experiments), areServicesUp: true }, { kind: 'waited' }, context);
    const step = next(up.state, { kind: 'checked', health: HEALTHY, container: 'c1' }, context);
    expect(step.request).toMatchObject({ kind: 'run', joining: false });
    expect(step.writes[0]).toEqual({
      kind: 'attempt-begun',
      open: { position: 0, attempt: 'id', number: 1, container: 'c1' },
    });
  });

  test('that cannot start its services runs nothing, and can be resumed', () => {
    const { book, finish } = playWith(campaignSpec([a]), {
      'start-services': [{ kind: 'services-failed', why: 'no such service', mayPass: false }],
    });
    expect(finish).toMatchObject({ outcome: 'stopped', reason: 'no such service' });
    expect(book.experiments[0]?.state).toBe('pending');
  });

  test('starts its services again after a bad moment, as often as one may be restarted', () => {
    const failed = { kind: 'services-failed', why: 'it is unhealthy', mayPass: true } as const;
    const three = playWith(campaignSpec([a]), { 'start-services': [failed, failed, failed] });
    expect(kinds(three.requests)).toMatch(/^(start-services wait ){3}start-services check-health run finish$/);
    const starts = three.requests.filter((one) => one.kind === 'start-services');
    expect(starts.map(({ again }) => again)).toEqual([false, true, true, true]);
    expect(three.finish.outcome).toBe('done');
    const four = playWith(campaignSpec([a]), { 'start-services': [failed, failed, failed, failed] });
    expect(four.finish).toMatchObject({ outcome: 'stopped', reason: 'it is unhealthy' });
  });
});

describe('an attempt that fails', () => {
  test.each<{ name: string; ends: readonly CampaignEvent[]; state: string; attempts: number; reason: string | null }>([
    { name: 'is retried', ends: [exited(1)], state: 'done', attempts: 2, reason: null },
    { name: 'is retried as often as allowed', ends: [exited(1), exited(1)], state: 'done', attempts: 3, reason: null },
    {
      name: 'for the third time fails for good',
      ends: [exited(1), exited(1), exited(9)],
      state: 'failed',
      attempts: 3,
      reason: 'exit code 9',
    },
    {
      name: 'because it cannot be begun at all is not retried',
      ends: [over({ kind: 'refused', why: 'no shell in the image' })],
      state: 'failed',
      attempts: 1,
      reason: 'no shell in the image',
    },
    {
      name: 'because somebody interrupted it does not count',
      ends: [over({ kind: 'interrupted', why: 'lost' }), exited(1), exited(1), exited(0)],
      state: 'done',
      attempts: 4,
      reason: null,
    },
    {
      name: 'by taking too long is retried',
      ends: [over({ kind: 'timeout', afterMs: 60_000, left: false }), exited(2), exited(2)],
      state: 'failed',
      attempts: 3,
      reason: 'exit code 2',
    },
  ])('$name', ({ ends, state, attempts, reason }) => {
    const { book } = playWith(campaignSpec([a]), { run: ends });
    expect(book.experiments[0]).toMatchObject({ state, attempts, reason });
  });

  test('and could not be ended has its service restarted, whatever that says of itself', () => {
    const { requests, finish } = playWith(campaignSpec([a]), {
      run: [over({ kind: 'timeout', afterMs: 60_000, left: true })],
    });
    expect(kinds(requests)).toBe('start-services check-health run recover wait check-health run finish');
    expect(finish.outcome).toBe('done');
  });

  test('for good ends the campaign when on_failure says so, and the rest stays pending', () => {
    const { book, finish } = playWith(campaignSpec([experimentSpec('a', { retries: 0 }), c], { onFailure: 'stop' }), {
      run: [exited(1)],
    });
    expect(finish).toMatchObject({ outcome: 'stopped', reason: 'a failed, and on_failure is stop' });
    expect(book.experiments.map(({ state }) => state)).toEqual(['failed', 'pending']);
  });
});

describe('a service that is not healthy', () => {
  const bad = (part = {}): CampaignEvent => ({ kind: 'checked', health: unhealthy(part), container: 'c1' });

  test('is restarted and left alone for a while before the experiment is begun', () => {
    const { requests, book } = playWith(campaignSpec([a]), { 'check-health': [bad({ remedy: 'recreate' })] });
    expect(requests[2]).toMatchObject({ kind: 'recover', remedy: 'recreate', why: 'it hangs' });
    expect(requests[3]).toMatchObject({ kind: 'wait', ms: 10_000 });
    expect(book.experiments[0]).toMatchObject({ state: 'done', attempts: 1 });
  });

  test('is restarted three times, then quarantined; what runs elsewhere goes on', () => {
    const { requests, book, finish } = playWith(campaignSpec([a, c, b]), {
      'check-health': [bad(), bad(), bad(), bad()],
    });
    expect(requests.filter(({ kind }) => kind === 'recover')).toHaveLength(3);
    expect(book.experiments.map(({ state }) => state)).toEqual(['pending', 'pending', 'done']);
    expect(book.experiments[1]?.reason).toBe('service gpu is quarantined: it hangs; restarted 3 of 3 times');
    expect(finish.outcome).toBe('stopped');
  });

  test('by a fault of the machine is quarantined at once', () => {
    const { requests, finish } = playWith(campaignSpec([a]), {
      'check-health': [bad({ remedy: 'none', reason: 'GPU is lost' })],
    });
    expect(kinds(requests)).toBe('start-services check-health finish');
    expect(finish).toMatchObject({ outcome: 'stopped', reason: 'service gpu is quarantined: GPU is lost' });
  });

  test('because nobody can ask is asked again, and restarted only when that goes on', () => {
    const unknown = Array.from({ length: MAX_UNCLEAR - 1 }, () => bad({ status: 'unknown' }));
    const healing = playWith(campaignSpec([a]), { 'check-health': unknown });
    expect(healing.requests.some(({ kind }) => kind === 'recover')).toBe(false);
    const longer = playWith(campaignSpec([a]), { 'check-health': [...unknown, bad({ status: 'unknown' })] });
    expect(longer.requests.filter(({ kind }) => kind === 'recover')).toHaveLength(1);
  });

  test('or has no container any more is restarted', () => {
    const { requests } = playWith(campaignSpec([a]), {
      'check-health': [{ kind: 'checked', health: HEALTHY, container: null }],
    });
    expect(requests[2]).toMatchObject({ kind: 'recover', remedy: 'restart', why: 'it has no running container' });
  });
});

describe('an Engine that was away', () => {
  const strict = { health: { gpuMemoryThresholdPct: 90, maxRestarts: 0, everyMs: null } };
  const back: CampaignEvent = { kind: 'engine-was-away' };
  const lost: CampaignEvent = {
    ...{ kind: 'attempt-over', end: { kind: 'interrupted', why: 'gone' }, durationMs: 5, wasAway: true },
  };

  test.each<{ name: string; odd: Parameters<typeof playWith>[1]; asked: string }>([
    { name: 'while services start', odd: { 'start-services': [back, back] }, asked: 'start-services start-services ' },
    { name: 'between two experiments', odd: { 'check-health': [back] }, asked: 'start-services check-health ' },
    { name: 'under an experiment', odd: { run: [lost] }, asked: 'start-services check-health run ' },
  ])('$name costs nothing: all services are started again', ({ odd, asked }) => {
    const { requests, book } = playWith(campaignSpec([experimentSpec('a', { retries: 0 })], strict), odd);
    expect(kinds(requests)).toBe(`${asked}start-services check-health run finish`);
    expect(requests.filter((one) => one.kind === 'start-services').at(-1)).toMatchObject({ again: true });
    expect(book.experiments[0]?.state).toBe('done');
  });

  test('during a restart: what the service needs is started first, then it is restarted, and that counts once', () => {
    const spec = campaignSpec([a], { health: { ...strict.health, maxRestarts: 1 } });
    const bad: CampaignEvent = { kind: 'checked', health: unhealthy(), container: 'c1' };
    const { requests, finish } = playWith(spec, { 'check-health': [bad], recover: [back, back] });
    expect(kinds(requests)).toBe(
      'start-services check-health recover start-services recover start-services recover wait check-health run finish',
    );
    expect(finish.outcome).toBe('done');
  });
});

describe('a resume', () => {
  test('joins the attempt that was left open before anything is started', () => {
    const spec = campaignSpec([a, c]);
    const book = new FakeBook(spec);
    play(spec, book, (request) => (request.kind === 'run' ? 'killed' : fine(request)));
    expect(book.open).toMatchObject({ attempt: 'uid-0-1' });
    const requests = play(spec, book, fine);
    expect(requests[0]).toMatchObject({ kind: 'run', joining: true, open: { attempt: 'uid-0-1' } });
    expect(kinds(requests)).toBe('run start-services check-health run finish');
    expect(book.experiments.map(({ attempts }) => attempts)).toEqual([1, 1]);
  });

  test('brings a service back in which an attempt hung before the services are started', () => {
    const spec = campaignSpec([a, c]);
    const book = new FakeBook(spec);
    play(spec, book, (request) => (request.kind === 'run' ? 'killed' : fine(request)));
    const ends = [over({ kind: 'unhealthy', why: 'it hangs', remedy: 'restart', left: false })];
    const requests = play(spec, book, (request) => (request.kind === 'run' && ends.shift()) || fine(request));
    expect(kinds(requests)).toBe('run recover wait start-services check-health run check-health run finish');
  });

  test('of a finished campaign does nothing', () => {
    const spec = campaignSpec([a]);
    const book = new FakeBook(spec);
    play(spec, book, fine);
    expect(kinds(play(spec, book, fine))).toBe('finish');
  });
});
