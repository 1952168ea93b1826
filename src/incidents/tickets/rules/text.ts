/** What a ticket says. All of it is plain text; each tracker writes it in its own way. */

import { withoutEscapes } from '../../../base/pure/escapes.ts';
import { describeExit } from '../../../base/pure/exit.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import { redact } from '../../../base/pure/redact.ts';
import { endedAfter, howEarly } from '../../../crashes/rules/earlier.ts';
import { SIMULATED_TITLE } from '../../../supervision/rules/simulation.ts';
import type { Subject } from '../../../supervision/rules/views.ts';
import type { Incident } from '../../rules/incident.ts';
import type { Circumstances, CrashEvidence, Evidence, ProblemEvidence } from './evidence.ts';
import type { Step, StepPart, Ticket } from './ticket.ts';

export type TicketText = Pick<
  Ticket,
  | 'title'
  | 'description'
  | 'reproductionSteps'
  | 'steps'
  | 'rootCause'
  | 'relatedFiles'
  | 'errorLogs'
  | 'errorType'
  | 'assignedTo'
>;

const MAX_TITLE_CHARS = 160;
const MAX_LINE_CHARS = 1_000;
const MAX_LOG_CHARS = 16_000;
/** A long log must not push out what a frozen process was doing. */
const MAX_FINDINGS_CHARS = 6_000;
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
  const steps = stepsOf(crash, about);
  return {
    title: line(`${mark(crash)}${crash.subject.name}: ${headline(crash)}`, MAX_TITLE_CHARS),
    description: description(crash, incident)
      .map((text) => line(text))
      .join('\n'),
    reproductionSteps: steps.map((step) => line(step.map((part) => ('code' in part ? part.code : part.say)).join(''))),
    steps: steps.map((step) => step.map((part) => ('code' in part ? { code: line(part.code) } : part))),
    rootCause: crash.rootCause === null ? null : line(crash.rootCause),
    ...textOfEnd(crash, known),
    errorType: errorTypeOf(crash) === null ? null : line(crash.errorType!, MAX_FILE_CHARS),
    assignedTo: about.assignedTo === null ? null : line(about.assignedTo, MAX_FILE_CHARS),
  };
}

function problemText(problem: ProblemEvidence, known: readonly string[]): TicketText {
  const line = (text: string, max = MAX_LINE_CHARS) => cleanLine(text, max, known);
  const steps = problem.reproduction.slice(0, MAX_STEPS).map((text) => line(text));
  return {
    title: line(problem.title, MAX_TITLE_CHARS),
    description: line(`${ofText(problem)} ${problem.subject.name}: ${problem.rootCause}`),
    reproductionSteps: steps,
    steps: steps.map(quotedAsCode),
    rootCause: line(problem.rootCause),
    relatedFiles: filesOf(problem.relatedFiles, known),
    errorLogs: cleanText(problem.evidence.slice(-MAX_LOG_LINES).join('\n'), MAX_LOG_CHARS, known),
    errorType: null,
    assignedTo: problem.assignedTo === null ? null : line(problem.assignedTo, MAX_FILE_CHARS),
  };
}

/** What its end shows: the log with the findings before it, and the files. */
export const textOfEnd = (
  crash: CrashEvidence,
  known: readonly string[],
): Pick<Ticket, 'errorLogs' | 'relatedFiles'> => ({
  errorLogs: [
    cleanText((crash.freeze?.evidence ?? []).join('\n'), MAX_FINDINGS_CHARS, known),
    cleanText(logsOf(crash).slice(-MAX_LOG_LINES).join('\n'), MAX_LOG_CHARS - MAX_FINDINGS_CHARS, known),
  ]
    .filter((part) => part !== '')
    .join('\n'),
  relatedFiles: filesOf(crash.relatedFiles ?? [], known),
});

const filesOf = (files: readonly string[], known: readonly string[]): readonly string[] =>
  files.slice(0, MAX_FILES).map((file) => cleanLine(file, MAX_FILE_CHARS, known));

const mark = ({ simulated }: CrashEvidence): string => (simulated === undefined ? '' : SIMULATED_TITLE);

/** Whose error it is that it says. What it says while we end it is our own doing. */
export const errorTypeOf = ({ errorType, exit }: Pick<CrashEvidence, 'errorType' | 'exit'>): string | null =>
  exit.unhealthy === null ? errorType : null;

/** What a ticket is about; entries that were removed were those of a file. */
export const ofText = ({ subject, category }: Pick<Ticket, 'subject' | 'category'>): string =>
  category === 'cleanup' ? 'state file' : subject.kind;

/** "component worker" */
const who = ({ kind, name }: Subject): string => `${kind} ${name}`;

/** "ImportError: cannot import name 'SkillNames'", "exit code 7", "frozen: no heartbeat for 5 min". */
export function headline(crash: CrashEvidence): string {
  if (crash.freeze !== undefined) return crash.freeze.reason;
  if (crash.exit.unhealthy !== null) return crash.exit.unhealthy;
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
    ...(incident.tasks.length > 1 ? [`Tasks that it happened to: ${incident.tasks.join(', ')}.`] : []),
    ...(incident.affected.length > 0 ? [`Affected, because they depend on it: ${incident.affected.join(', ')}.`] : []),
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
function stepsOf(crash: CrashEvidence, { command, cwd }: Circumstances): readonly Step[] {
  const { subject, agentType, taskId, simulated } = crash;
  const say = (text: string): StepPart => ({ say: text });
  const code = (text: string): StepPart => ({ code: text });
  const ends: Step = [say(`After ${formatDuration(crash.uptimeMs)} it ends: `), code(describeExit(crash.exit))];
  // Its own command does nothing of the kind.
  if (simulated !== undefined)
    return [[code(`keepwell simulate-crash --${subject.kind} ${subject.name} --kind ${simulated.kind}`)], ends];
  const place = cwd === null ? [say('which runs: ')] : [say('which runs in '), code(cwd), say(': ')];
  const saysWhy = errorTypeOf(crash) !== null || (crash.errorMessage !== null && crash.exit.unhealthy === null);
  return [
    ...(subject.kind === 'component' ? [[code(`keepwell start ${subject.name}`)]] : []),
    ...(agentType !== undefined && taskId !== undefined
      ? [[code(`keepwell spawn ${agentType} --task ${quoted(taskId)}`)]]
      : []),
    ...(command === null ? [] : [[...place, code(command.map((word) => quoted(filled(word, taskId))).join(' '))]]),
    ...(taskId === undefined ? [] : [[say('Task: '), code(taskId)]]),
    ends,
    ...(saysWhy ? [[say('It says: '), code(headline(crash))]] : []),
  ];
}

/** Our own sentences quote what is to be typed. */
const quotedAsCode = (text: string): Step =>
  text
    .split(/"([^"]+)"/)
    .map((part, at): StepPart => (at % 2 === 1 ? { code: part } : { say: part }))
    .filter((part) => 'code' in part || part.say !== '');

const filled = (word: string, task: string | undefined): string =>
  task === undefined ? word : word.replaceAll('{task}', () => task);

/** As one would type it into a shell. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The end of its log; before it the stack, when the log does not go back so far. */
function logsOf({ logTail, stack = [] }: CrashEvidence): readonly string[] {
  const tail = logTail.slice(-MAX_LOG_LINES);
  const last = stack.at(-1)?.trim() ?? '';
  const isShown = last === '' || tail.some((line) => line.includes(last));
  return [...(isShown ? [] : [...stack, '']), ...tail];
}

// Text that others wrote, before it becomes part of a ticket: without secrets, colours and invisible characters, and not too long.

/** Controls, and characters that change the direction or hide what is there. Tabs and line ends stay. */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ufe00-\ufe0f]|\p{Surrogate}|[\u{e0000}-\u{e0fff}]/gu;

/** So much is looked at: what follows is cut in any case. */
const MAX_READ_CHARS = 256 * 1024;
const LEFT_OUT = '…';

/** Several lines. `known`: values that must never appear. */
export function cleanText(text: string, maxChars: number, known: readonly string[] = []): string {
  const cut = text.length > MAX_READ_CHARS;
  const plain = withoutEscapes(text.slice(-MAX_READ_CHARS)).replace(/\r\n?/g, '\n').replace(INVISIBLE, '');
  return lastChars(redact(plain, known, { start: cut }), maxChars);
}

/** One line, cut at its end. */
export function cleanLine(text: string, maxChars: number, known: readonly string[] = []): string {
  const start = text.slice(0, MAX_READ_CHARS);
  const plain = withoutEscapes(start).replace(INVISIBLE, '');
  const line = redact(plain, known, { end: start.length < text.length })
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= maxChars ? line : `${whole(line.slice(0, maxChars - 1)).trimEnd()}${LEFT_OUT}`;
}

/** The end of a log tells more than its beginning. Cut at a line where there is one near. */
function lastChars(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(2 + LEFT_OUT.length - maxChars);
  const lineEnd = kept.indexOf('\n');
  return `${LEFT_OUT}\n${lineEnd >= 0 && lineEnd < kept.length / 2 ? kept.slice(lineEnd + 1) : kept}`;
}

/** Without half of a character at its end. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, '');
