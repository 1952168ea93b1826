import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CampaignEvent, Request } from '../../../../src/campaigns/rules/state.ts';
import type { CampaignSpec } from '../../../../src/campaigns/spec.ts';
import {
  campaignSpec,
  experimentSpec,
  FakeBook,
  fine,
  HEALTHY,
  play,
  unhealthy,
} from '../../../support/campaign-world.ts';

const answers: Readonly<Record<Request['kind'], readonly (CampaignEvent | 'killed')[]>> = {
  'start-services': [
    { kind: 'services-started' },
    { kind: 'services-failed', why: 'x', mayPass: false },
    { kind: 'services-failed', why: 'x', mayPass: true },
    { kind: 'engine-was-away' },
    'killed',
  ],
  'check-health': [
    { kind: 'checked', health: HEALTHY, container: 'c1' },
    { kind: 'checked', health: unhealthy(), container: 'c1' },
    { kind: 'checked', health: unhealthy({ remedy: 'none' }), container: null },
    { kind: 'checked', health: unhealthy({ status: 'unknown' }), container: null },
    { kind: 'engine-was-away' },
    'killed',
    { kind: 'interrupted' },
  ],
  recover: [
    { kind: 'recovered', isBack: true },
    { kind: 'recovered', isBack: false },
    { kind: 'engine-was-away' },
    'killed',
  ],
  wait: [{ kind: 'waited' }, 'killed', { kind: 'interrupted' }],
  run: [
    { kind: 'attempt-over', end: { kind: 'exited', code: 0 }, durationMs: 1 },
    { kind: 'attempt-over', end: { kind: 'exited', code: 1 }, durationMs: 1 },
    { kind: 'attempt-over', end: { kind: 'timeout', afterMs: 1, left: true }, durationMs: 1 },
    { kind: 'attempt-over', end: { kind: 'lost', why: 'x' }, durationMs: null },
    { kind: 'attempt-over', end: { kind: 'interrupted', why: 'x' }, durationMs: null },
    { kind: 'attempt-over', end: { kind: 'interrupted', why: 'x' }, durationMs: null, wasAway: true },
    'killed',
  ],
  finish: [],
};

test('whatever happens, and wherever it is killed: one final result each, nothing begun after it, retries and restarts bounded', () => {
  const experiment = fc.record({ service: fc.constantFrom('s1', 's2'), retries: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(
      fc.array(experiment, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(), { maxLength: 80 }),
      fc.constantFrom<'continue' | 'stop'>('continue', 'stop'),
      (parts, choices, onFailure) => {
        const specs = parts.map((part, index) => experimentSpec(`e${index}`, part));
        const spec = campaignSpec(specs, { onFailure });
        const book = new FakeBook(spec);
        const left = [...choices];
        const answer = (request: Request): CampaignEvent | 'killed' => {
          const choice = left.shift();
          const possible = answers[request.kind];
          return choice === undefined ? fine(request) : possible[choice % possible.length]!;
        };
        for (let goes = 0; left.length > 0 || goes === 0; goes += 1) {
          let spoilt = 0;
          const requests = play(spec, book, (request) => {
            const event = answer(request);
            if (request.kind === 'recover' && event !== 'killed' && event.kind === 'engine-was-away') spoilt += 1;
            return event;
          });
          for (const service of ['s1', 's2']) {
            const restarts = requests.filter((one) => one.kind === 'recover' && one.service === service);
            expect(restarts.length).toBeLessThanOrEqual(spec.health.maxRestarts + spoilt);
          }
          if (requests.length === 1 && requests[0]?.kind === 'finish') break;
        }
        checkBook(spec, book);
      },
    ),
    { numRuns: 400 },
  );
});

function checkBook(spec: CampaignSpec, book: FakeBook): void {
  const finals = new Map<number, number>();
  const begun = new Set<string>();
  const interrupted = new Map<number, number>();
  for (const write of book.writes) {
    if (write.kind === 'attempt-begun') {
      expect(finals.has(write.open.position), 'begun after its final result').toBe(false);
      expect(begun.has(write.open.attempt), 'an id used twice').toBe(false);
      begun.add(write.open.attempt);
    }
    if (write.kind === 'attempt-over' && write.outcome === 'interrupted')
      interrupted.set(write.open.position, (interrupted.get(write.open.position) ?? 0) + 1);
    if (write.kind === 'experiment' && ['done', 'failed'].includes(write.experiment.state))
      finals.set(write.position, (finals.get(write.position) ?? 0) + 1);
  }
  for (const count of finals.values()) expect(count).toBe(1);
  book.experiments.forEach(({ attempts }, index) => {
    expect(attempts).toBeLessThanOrEqual(1 + spec.experiments[index]!.retries + (interrupted.get(index) ?? 0));
  });
}
