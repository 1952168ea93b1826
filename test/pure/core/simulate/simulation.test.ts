import { describe, expect, test } from 'vitest';
import { titleOf } from '../../../../src/incidents/rules/next.ts';
import type { TicketsSpec } from '../../../../src/incidents/tickets/ports.ts';
import { reopenedByHand } from '../../../../src/incidents/tickets/rules/notes.ts';
import { textOf } from '../../../../src/incidents/tickets/rules/text.ts';
import { concerned } from '../../../../src/incidents/tickets/service.ts';
import { type CrashKind, isOutcome, isSimulated, markSimulated } from '../../../../src/supervision/rules/simulation.ts';
import {
  crashSample,
  githubSpec,
  incidentSample,
  START,
  settings,
  ticketSample,
  wall,
} from '../../../support/ticket-samples.ts';

const HERE = { command: ['./worker.sh'], cwd: '/srv/app', assignedTo: null };
const asked = (kind: CrashKind, notify = false) => ({ kind, notify, memoryBytes: null });

describe('a simulated crash', () => {
  const real = { fingerprint: 'v1:1', rootCause: 'the file is not there' };

  test('never counts to the incident of a real one, and says what it is', () => {
    const marked = markSimulated(real, asked('exit'));
    expect(marked.fingerprint).not.toBe(real.fingerprint);
    expect(marked).toMatchObject({
      simulated: { kind: 'exit', notify: false },
      rootCause: 'simulated with "keepwell simulate-crash": the file is not there',
    });
    expect(isSimulated(marked.rootCause)).toBe(true);
    expect(isSimulated(real.rootCause)).toBe(false);
  });

  test('that is told outside does not count to one that was not, whose rate limit would keep it quiet', () => {
    expect(markSimulated(real, asked('exit', true)).fingerprint).not.toBe(
      markSimulated(real, asked('exit')).fingerprint,
    );
  });

  test('is called so in every list, and its ticket says how to do it again', () => {
    const marked = markSimulated(crashSample(), asked('import-error'));
    expect(titleOf(marked)).toMatch(/^simulated: worker: ImportError: /);
    const { title, reproductionSteps } = textOf({ kind: 'crash', crash: marked }, incidentSample(1, START), HERE);
    expect(title).toMatch(/^simulated: worker: ImportError: /);
    expect(reproductionSteps).toEqual([
      'keepwell simulate-crash --component worker --kind import-error',
      'After 2 s it ends: exit code 1',
    ]);
    const { title: ofProblem } = markSimulated({ ...real, title: 'the loop is frozen' }, asked('hang'));
    expect(ofProblem).toBe('simulated: the loop is frozen');
  });

  test('that is reopened by hand goes to nobody outside who has not heard of it', () => {
    const spec = settings({ trackers: [...settings().trackers, githubSpec()] });
    const namesAfter = (rootCause: string, knownBy: TicketsSpec) => {
      const shut = { ...ticketSample(knownBy, { rootCause }), state: 'closed' } as const;
      return Object.keys(reopenedByHand(shut, concerned(shut, spec), wall(START))?.ticket.trackers ?? {});
    };
    const { rootCause } = markSimulated(real, asked('exit'));
    expect(namesAfter(rootCause ?? '', settings())).toEqual(['local']);
    expect(namesAfter(rootCause ?? '', spec)).toEqual(['local', 'github']);
    expect(namesAfter('a real one', settings())).toEqual(['local', 'github']);
  });

  test.each([
    ['signal', 1_000, true],
    ['signal', 3_600_000, false],
    ['hang', 3_600_000, true],
    ['oom', 3_600_000, true],
  ] as const)('a crash after %s, %i ms later, is its outcome: %s', (kind, laterMs, expected) => {
    expect(isOutcome({ ...asked(kind), at: wall(0) }, wall(laterMs))).toBe(expected);
  });
});
