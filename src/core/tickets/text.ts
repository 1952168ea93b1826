/** What a ticket says. All of it is plain text; each tracker writes it in its own way. */
import { endedAfter, howEarly } from '../crash/earlier.ts';
import { describeExit } from '../exit.ts';
import { formatDuration } from '../format.ts';
import type { Incident } from '../incidents/incident.ts';
import { SIMULATED_TITLE } from '../simulate/simulation.ts';
import type { Subject } from '../views.ts';
import { cleanLine, cleanText } from './clean.ts';
import type { Circumstances, CrashEvidence, Evidence, ProblemEvidence } from './evidence.ts';
import type { Ticket } from './ticket.ts';

export type TicketText = Pick<
  Ticket,
  | 'title'
  | 'description'
  | 'reproductionSteps'
  | 'rootCause'
  | 'relatedFiles'
  | 'errorLogs'
  | 'errorType'
  | 'assignedTo'
>;

const MAX_TITLE_CHARS = 160;
const MAX_LINE_CHARS = 1_000;
const MAX_LOG_CHARS = 16_000;
const MAX_LOG_LINES = 100;
const MAX_FILES = 20;
const MAX_FILE_CHARS = 300;
const MAX_STEPS = 20;

export function textOf(evidence: Evidence, incident: Incident, about: Circumstances): TicketText {
  return evidence.kind === 'crash'
    ? crashText(evidence.crash, incident, about)
    : problemText(evidence.problem, about.secrets ?? []);
}

function crashText(crash: CrashEvidence, incident: Incident, about: Circumstances): TicketText {
  const known = about.secrets ?? [];
  const line = (text: string, max = MAX_LINE_CHARS) => cleanLine(text, max, known);
  return {
    title: line(`${mark(crash)}${crash.subject.name}: ${headline(crash)}`, MAX_TITLE_CHARS),
    description: description(crash, incident)
      .map((text) => line(text))
      .join('\n'),
    reproductionSteps: stepsOf(crash, about).map((text) => line(text)),
    rootCause: crash.rootCause === null ? null : line(crash.rootCause),
    relatedFiles: filesOf(crash.relatedFiles ?? [], known),
    errorLogs: cleanText(logsOf(crash).slice(-MAX_LOG_LINES).join('\n'), MAX_LOG_CHARS, known),
    errorType: crash.errorType === null ? null : line(crash.errorType, MAX_FILE_CHARS),
    assignedTo: about.assignedTo === null ? null : line(about.assignedTo, MAX_FILE_CHARS),
  };
}

function problemText(problem: ProblemEvidence, known: readonly string[]): TicketText {
  const line = (text: string, max = MAX_LINE_CHARS) => cleanLine(text, max, known);
  return {
    title: line(problem.title, MAX_TITLE_CHARS),
    description: line(`${who(problem.subject)}: ${problem.rootCause}`),
    reproductionSteps: problem.reproduction.slice(0, MAX_STEPS).map((text) => line(text)),
    rootCause: line(problem.rootCause),
    relatedFiles: filesOf(problem.relatedFiles, known),
    errorLogs: cleanText(problem.evidence.slice(-MAX_LOG_LINES).join('\n'), MAX_LOG_CHARS, known),
    errorType: null,
    assignedTo: problem.assignedTo === null ? null : line(problem.assignedTo, MAX_FILE_CHARS),
  };
}

const filesOf = (files: readonly string[], known: readonly string[]): readonly string[] =>
  files.slice(0, MAX_FILES).map((file) => cleanLine(file, MAX_FILE_CHARS, known));

const mark = ({ simulated }: CrashEvidence): string => (simulated === undefined ? '' : SIMULATED_TITLE);

/** "component worker" */
const who = ({ kind, name }: Subject): string => `${kind} ${name}`;

/** "ImportError: cannot import name 'SkillNames'", "exit code 7", "frozen: no heartbeat for 5 min". */
export function headline(crash: CrashEvidence): string {
  if (crash.freeze !== undefined) return crash.freeze.reason;
  const said = firstLine(crash.errorMessage ?? '');
  if (crash.errorType !== null) return said === '' ? crash.errorType : `${crash.errorType}: ${said}`;
  return said === '' ? `${describeExit(crash.exit)}${endedAfter(crash.exit, crash.earlier)}` : said;
}

const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? '';

function description(crash: CrashEvidence, incident: Incident): readonly string[] {
  const times = incident.count === 1 ? 'once' : `${incident.count} times`;
  return [
    `${who(crash.subject)} crashed ${times} with this cause when this was written.`,
    `The last time it was up for ${formatDuration(crash.uptimeMs)}: ${describeExit(crash.exit)}.`,
    ...(incident.subjects.length > 1 ? [`The same happens to: ${incident.subjects.map(who).join(', ')}.`] : []),
    ...(incident.affected.length > 0
      ? [`Taken along, because they depend on it: ${incident.affected.join(', ')}.`]
      : []),
    ...(crash.changedSinceGood !== null && crash.changedSinceGood.length > 0
      ? [`Changed since the last good run: ${crash.changedSinceGood.join(', ')}.`]
      : []),
    ...(crash.earlier
      ? [
          `An error that it had logged ${howEarly(crash.earlier)}, which need not be the cause: ${crash.earlier.summary}.`,
        ]
      : []),
    `What was decided: ${crash.decision}.`,
  ];
}

/** How it was started, for which task, and what it said. */
function stepsOf(crash: CrashEvidence, { command, cwd }: Circumstances): readonly string[] {
  const { subject, agentType, taskId, simulated } = crash;
  const ends = `After ${formatDuration(crash.uptimeMs)} it ends: ${describeExit(crash.exit)}`;
  // Its own command does nothing of the kind.
  if (simulated !== undefined)
    return [`keepwell simulate-crash --${subject.kind} ${subject.name} --kind ${simulated.kind}`, ends];
  const place = cwd === null ? '' : ` in ${cwd}`;
  return [
    ...(subject.kind === 'component' ? [`keepwell start ${subject.name}`] : []),
    ...(agentType !== undefined && taskId !== undefined
      ? [`keepwell spawn ${agentType} --task ${quoted(taskId)}`]
      : []),
    ...(command === null
      ? []
      : [`which runs${place}: ${command.map((word) => quoted(filled(word, taskId))).join(' ')}`]),
    ...(taskId === undefined ? [] : [`Task: ${taskId}`]),
    ends,
    ...(crash.errorMessage === null && crash.errorType === null ? [] : [`It says: ${headline(crash)}`]),
  ];
}

const filled = (word: string, task: string | undefined): string =>
  task === undefined ? word : word.replaceAll('{task}', () => task);

/** As one would type it into a shell. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The end of its log; before it the stack, when the log does not go back so far. */
function logsOf({ logTail, stack = [], freeze }: CrashEvidence): readonly string[] {
  const tail = logTail.slice(-MAX_LOG_LINES);
  const last = stack.at(-1)?.trim() ?? '';
  const isShown = last === '' || tail.some((line) => line.includes(last));
  return [...(freeze?.evidence ?? []), ...(isShown ? [] : [...stack, '']), ...tail];
}
