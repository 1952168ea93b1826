/** What happened, as schemas: crashes, dossiers, events, answers of probes, lines of logs. */

import { z } from 'zod';
import type { LogLineView, LogsView } from '../../logs/ports.ts';
import type {
  CrashesView,
  CrashView,
  EarlierError,
  EventsView,
  EventView,
  FreezeView,
  ProbeStretchView,
  ProbesView,
  SamplesView,
  SampleView,
  WhyView,
} from '../../supervision/rules/views.ts';
import { EXIT, OUTCOME, ROLE, SUBJECT } from './component.ts';
import { exampleCrash, exampleDossier, exampleEvent, exampleLine, exampleSample, exampleStretch } from './examples.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from './view.ts';

const note = (description: string) => ({ description });

const crashFields = {
  id: COUNT,
  subject: SUBJECT,
  run_id: z.string(),
  at: TIME,
  uptime_ms: COUNT,
  exit: EXIT,
  error_type: z.string().nullable(),
  error_message: z.string().nullable(),
  root_cause: z.string().nullable(),
  fingerprint: z.string().nullable(),
  agent_type: z.string().nullable(),
  task_id: z.string().nullable(),
  agent_pid: z.int().nullable(),
  decision: z.string().meta(note('What was decided: "restart in 1 s (1 of 10 in 10 min)".')),
  incident: COUNT.nullable(),
  ticket: z.string().nullable(),
};

const CRASH = named(
  'Crash',
  viewOf<CrashView>()(z.strictObject(crashFields)),
  'An unplanned end of a run.',
  exampleCrash,
);

export const CRASHES = named(
  'Crashes',
  viewOf<CrashesView>()(z.strictObject({ schema_version: SCHEMA_VERSION, crashes: z.array(CRASH) })),
  'Crashes, newest first.',
  { schema_version: 1, crashes: [exampleCrash] },
);

const STRETCH = named(
  'ProbeStretch',
  viewOf<ProbeStretchView>()(
    z.strictObject({
      component: z.string(),
      run_id: z.string(),
      role: ROLE,
      question: z.string(),
      outcome: OUTCOME,
      message: z.string().meta(note('Of the last answer.')),
      first_at: TIME,
      last_at: TIME,
      count: COUNT,
      last_ms: z.number().min(0),
      max_ms: z.number().min(0),
    }),
  ),
  'A stretch of equal answers to one probe.',
  exampleStretch,
);

export const PROBES = named(
  'Probes',
  viewOf<ProbesView>()(z.strictObject({ schema_version: SCHEMA_VERSION, probes: z.array(STRETCH) })),
  'Answers of probes, newest first.',
  { schema_version: 1, probes: [exampleStretch] },
);

const SAMPLE = named(
  'Sample',
  viewOf<SampleView>()(
    z.strictObject({
      component: z.string(),
      run_id: z.string(),
      first_at: TIME,
      last_at: TIME,
      count: COUNT.meta(note('Samples in it.')),
      cpu_percent: z.number().min(0).nullable().meta(note('On average; 100 is one core. Null: not known.')),
      memory_bytes: COUNT.meta(note('At its end.')),
      memory_max_bytes: COUNT,
      fds: COUNT.nullable().meta(note('Open files at its end; null: they may not be counted.')),
      threads: COUNT.meta(note('At its end.')),
      processes: COUNT.meta(note('At its end.')),
    }),
  ),
  'What a run used over a minute, or over up to an hour in which its use hardly changed.',
  exampleSample,
);

export const SAMPLES = named(
  'Samples',
  viewOf<SamplesView>()(z.strictObject({ schema_version: SCHEMA_VERSION, samples: z.array(SAMPLE) })),
  'What a component used, newest first.',
  { schema_version: 1, samples: [exampleSample] },
);

const FREEZE = named(
  'Freeze',
  viewOf<FreezeView>()(
    z.strictObject({
      reason: z.string().meta(note('In a few words: "frozen: no heartbeat for 5 min".')),
      silent_since: TIME,
      steps: z.array(z.strictObject({ at: TIME, text: z.string() })).meta(note('What was done, oldest first.')),
      evidence: z
        .array(z.string())
        .meta(note('Its processes when it was examined, and what it wrote at the dump signal; secrets are taken out.')),
    }),
  ),
  'How a frozen run was dealt with, and what it was doing.',
);

const EARLIER_ERROR = named(
  'EarlierError',
  viewOf<EarlierError>()(
    z.strictObject({
      type: z.string().nullable(),
      message: z.string().nullable(),
      summary: z.string().meta(note('One sentence.')),
      age_ms: COUNT.nullable().meta(note('How long before the end it was written. Null: not known.')),
      lines_after: COUNT.meta(note('Lines that were written after it.')),
      stack: z.array(z.string()),
      related_files: z.array(z.string()),
    }),
  ),
  'An error that a program had written before it died of something else.',
);

export const WHY = named(
  'Why',
  viewOf<WhyView>()(
    z.strictObject({
      ...crashFields,
      schema_version: SCHEMA_VERSION,
      log_tail: z.array(z.string()).meta(note('The last lines it wrote, with secrets taken out.')),
      stack: z.array(z.string()),
      related_files: z.array(z.string()),
      earlier_error: EARLIER_ERROR.nullable().meta(note('Null: none, or the cause is known.')),
      probes: z.array(STRETCH).meta(note('The answers of its probes before the end, oldest first.')),
      freeze: FREEZE.nullable().meta(note('Null: its heartbeat was not overdue.')),
      dependencies: z.array(
        z.strictObject({ name: z.string(), condition: z.string(), state: z.string(), ready: z.boolean() }),
      ),
      changed_since_good: z
        .array(z.string())
        .nullable()
        .meta(note('Names only, never values. Null: there is no good run to compare with.')),
      rule: z.strictObject({
        name: z.string(),
        counters: z.strictObject({ restarts_in_window: COUNT, failures: COUNT, spawn_errors: COUNT, total: COUNT }),
      }),
    }),
  ),
  'One crash, with all that is known about it.',
  exampleDossier,
);

export const EVENT = named(
  'Event',
  viewOf<EventView>()(
    z.strictObject({
      seq: COUNT.meta(note('Rises by one or more; never used twice.')),
      at: TIME,
      subject: SUBJECT,
      type: z.string(),
      run_id: z.string().nullable(),
      data: z.record(z.string(), z.unknown()),
    }),
  ),
  'Something that happened.',
  exampleEvent,
);

export const EVENTS = named(
  'Events',
  viewOf<EventsView>()(
    z.strictObject({
      schema_version: SCHEMA_VERSION,
      last_seq: COUNT.meta(note('How far the whole history goes, whatever was asked for.')),
      events: z.array(EVENT),
    }),
  ),
  'Events, oldest first.',
  { schema_version: 1, last_seq: exampleEvent.seq, events: [exampleEvent] },
);

export const LOG_LINE = named(
  'LogLine',
  viewOf<LogLineView>()(
    z.strictObject({
      component: z.string(),
      line: z.string().meta(note('Without its line break.')),
      at: TIME.nullable().meta(note('When it was written, to about a second. Null: not known.')),
      run: z.string().nullable().meta(note('The run that wrote it. Null: not known.')),
      offset: COUNT.meta(
        note('The position at which it begins: bytes the component had written before. "after" takes it.'),
      ),
      cut_bytes: COUNT.meta(note('Bytes left out at its end: a line without end is cut.')),
      lost_bytes: COUNT.meta(note('Bytes between the line before and this one that are no longer kept.')),
    }),
  ),
  'A line that a component wrote.',
  exampleLine,
);

export const LOGS = named(
  'Logs',
  viewOf<LogsView>()(z.strictObject({ schema_version: SCHEMA_VERSION, lines: z.array(LOG_LINE) })),
  'Lines, component by component, each from old to new.',
  { schema_version: 1, lines: [exampleLine] },
);
