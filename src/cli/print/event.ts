/** One event in one line. */

import { describeExit, type ExitView } from '../../base/pure/exit.ts';
import { formatBytes, formatDuration } from '../../base/pure/format.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import type { Paint } from './colour.ts';
import { localTime } from './json.ts';
import { oneLine, sanitise } from './sanitise.ts';

type Data = EventView['data'];

const text = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
const bytes = (...values: readonly unknown[]): string =>
  formatBytes(values.reduce<number>((sum, value) => sum + Number(value), 0));
const duration = (value: unknown): string => formatDuration(Number(value));

const because = (what: string, { reason }: Data): string => (reason === undefined ? what : `${what}: ${text(reason)}`);

/** Agents of others may have no task. */
const forTask = ({ task }: Data): string => (typeof task === 'string' ? ` for ${task}` : '');
/** Who joined a ticket. */
const also = ({ also: names }: Data): string =>
  Array.isArray(names) && names.length > 0 ? ` Also: ${names.map(String).join(', ')}.` : '';

const incident = ({ incident: id }: Data): string => `incident ${text(id)}`;
const times = ({ count }: Data): string => (count === 1 ? 'once' : `${text(count)} times`);

const ENDINGS: Readonly<Record<string, string>> = {
  down: 'everything was stopped ("keepwell down")',
  stop: 'it was told to end; components come back with the next daemon',
  handover: 'it handed over to another daemon; components keep running',
};

/** What the known types say. Everything else is printed as it is. */
const SENTENCES: Readonly<Record<string, (data: Data) => string>> = {
  'component.waiting': (data) => `waiting for ${text(data['for'])}`,
  'component.starting': ({ attempt }) =>
    attempt === 'first' ? 'starting' : `starting (${attempt === 'quiet' ? 'quiet retry' : text(attempt)})`,
  'component.started': (data) => `started, pid ${text(data['pid'])}`,
  // What was decided is the next event of the same component.
  'component.exited': ({ exit, uptime_ms }) =>
    uptime_ms === 0 ? text(exit) : `${text(exit)}; ran for ${duration(uptime_ms)}`,
  'component.backing-off': (data) => text(data['decision'] ?? `restart in ${duration(data['in_ms'])}`),
  'component.gave-up': (data) => text(data['decision'] ?? `gave up (${text(data['rule'])})`),
  'component.completed': () => 'completed',
  'component.stopping': (data) =>
    because(`stopping, ${text(data['signal'])} sent`, data['reason'] === null ? {} : data),
  'component.stopped': () => 'stopped',
  'component.killed': (data) => `did not end within ${duration(data['grace_ms'])}, SIGKILL sent`,
  'component.unkillable': () => 'SIGKILL had no effect',
  'component.healthy': (data) => because('healthy', data),
  'component.unhealthy': (data) => because('unhealthy', data),
  'component.frozen': (data) => `${text(data['reason'])} (${text(data['source'])})`,
  'component.examined': (data) => examined(data),
  'component.thawed': (data) => thawed(data),
  'component.ready': (data) => because('ready', data),
  'component.not-ready': (data) => because('no longer ready', data),
  'component.daemonised': (data) => `put itself in the background (pids ${text(data['pids'])})`,
  'component.over-soft-memory': (data) =>
    `${text(data['reason'])}${data['restarts'] === false ? '; not restarted, because its restart policy is never' : ''}`,
  'component.unlimited': (data) => unlimited(data),
  'component.leftovers': (data) => `${text(data['exit'])}, and left processes behind: ${text(data['pids'])}`,
  'component.cleaned-up': () => 'its container was removed',
  'agent.spawned': (data) => `spawned${forTask(data)}`,
  'agent.started': (data) => `started${forTask(data)}, pid ${text(data['pid'])}`,
  'agent.respawned': (data) => `respawned${forTask(data)} (${text(data['number'])} of ${text(data['of'])})`,
  'agent.crashed': (data) =>
    `crashed${forTask(data)}: ${data['exit'] ? describeExit(data['exit'] as ExitView) : text(data['why'])}`,
  'agent.finished': (data) => `finished${forTask(data)}`,
  'agent.gave-up': (data) =>
    `gave up${forTask(data)}: ${data['why'] === undefined ? 'no more respawns' : text(data['why'])}`,
  'agent.frozen': (data) => `${text(data['reason'])} (${text(data['source'])})${forTask(data)}`,
  'agent.timed-out': (data) => `${text(data['reason'])}${forTask(data)}; examined, then ended`,
  'agent.examined': (data) => `${examined(data)}${forTask(data)}`,
  'agent.thawed': (data) => `${thawed(data)}${forTask(data)}`,
  'agent.over-soft-memory': (data) =>
    `${text(data['reason'])}${forTask(data)}${data['restarts'] === false ? '; not ended, because it would not be respawned' : ''}`,
  'agent.unlimited': (data) => `${unlimited(data)}${forTask(data)}`,
  'agent.stopping': (data) =>
    because(
      `stopping${forTask(data)}, ${text(data['signal'])} sent`,
      data['reason'] === undefined || data['reason'] === null ? {} : data,
    ),
  'agent.unkillable': (data) => `SIGKILL had no effect${forTask(data)}`,
  'agent.stopped': (data) => `stopped${forTask(data)}${data['why'] === undefined ? '' : `: ${text(data['why'])}`}`,
  'agent.interrupted': (data) => `interrupted${forTask(data)}: ${text(data['why'])}`,
  'agent.leftovers': (data) => `left processes behind${forTask(data)}: ${text(data['pids'])}`,
  'agents.cleaned': (data) => `removed dead entries from ${text(data['file'])}: ${text(data['entries'])}`,
  'incident.opened': (data) => `${incident(data)}: ${text(data['title'])}`,
  'incident.reopened': (data) => `${incident(data)} reopened, seen ${times(data)}: ${text(data['title'])}`,
  'incident.resolved': (data) => `${incident(data)} resolved, seen ${times(data)}: ${text(data['title'])}`,
  'incident.affects': (data) =>
    `${text(data['component'])} is also affected by ${incident(data)}: ${text(data['title'])}`,
  'incident.folded': (data) => `${incident(data)} is part of incident ${text(data['into'])}: ${text(data['title'])}`,
  'incident.acknowledged': (data) => `${incident(data)} acknowledged: ${text(data['title'])}`,
  'incident.silenced': (data) =>
    data['until'] === null
      ? `${incident(data)} is no longer silenced: ${text(data['title'])}`
      : `${incident(data)} silenced until ${localTime(text(data['until']))}: ${text(data['title'])}`,
  'alert.sent': (data) => `alert sent to ${text(data['channel'])}: ${text(data['text'])}`,
  'alert.failed': (data) =>
    `alert to ${text(data['channel'])} failed: ${text(data['problem'])}${data['given_up'] === true ? '; no further tries' : ''}`,
  'check.changed': (data) => `check ${text(data['status'])}: ${text(data['message'])}`,
  'session.spawned': (data) => `session of ${text(data['challenge_id'])} spawned for ${text(data['user_id'])}`,
  'session.ready': () => 'session ready',
  'session.unhealthy': (data) => `session failed: ${text(data['why'])}; ${text(data['decision'])}`,
  'session.restarted': (data) => `session restarted (${text(data['restarts'])} so far)`,
  'session.gave-up': (data) => `session given up: ${text(data['why'])}`,
  'session.expired': () => 'the lease of the session has expired',
  'session.stopped': (data) => `session stopped: ${text(data['why'])}`,
  'session.extended': (data) => `session extended until ${localTime(text(data['expires_at']))}`,
  'session.adopted': () => 'session found again by the labels of its container',
  'session.removed': (data) => `session removed (${text(data['reason'])})`,
  'ticket.opened': (data) => `ticket ${text(data['ticket'])} (${text(data['priority'])}): ${text(data['title'])}`,
  'ticket.commented': (data) => `ticket ${text(data['ticket'])}: ${text(data['text'])}${also(data)}`,
  'ticket.reopened': (data) => `ticket ${text(data['ticket'])} reopened: ${text(data['reason'])}`,
  'ticket.closed': (data) => `ticket ${text(data['ticket'])} closed`,
  'ticket.delivered': (data) =>
    data['note'] === undefined
      ? `ticket ${text(data['ticket'])} delivered to ${text(data['tracker'])}${data['address'] === null ? '' : `: ${text(data['address'])}`}`
      : `ticket ${text(data['ticket'])}, ${text(data['tracker'])}: ${text(data['note'])}`,
  'ticket.delivery-failed': (data) =>
    `ticket ${text(data['ticket'])} could not be delivered to ${text(data['tracker'])}: ${text(data['error'])}${data['stopped'] === true ? '; no further tries' : ''}`,
  'logs.dropped': (data) =>
    `${bytes(data['dropped_bytes'], data['lost_bytes'])} of the log of ${text(data['component'])} were not kept (${text(data['why'])})`,
  'logs.gap': (data) =>
    `lines of ${text(data['component'])} are missing in its log${data['count'] === 1 ? '' : `, ${times(data)}`}: Docker did not pass them on (written from ${localTime(text(data['from']))} to ${localTime(text(data['to']))})`,
  'logs.removed': (data) =>
    `the log of ${text(data['component'])} was removed; what it writes is lost until its next start`,
  'logs.not-a-file': (data) => `${text(data['path'])} is not a regular file; it is left alone`,
  'logs.disk-low': (data) =>
    `only ${bytes(data['free_bytes'])} free on the disk with the logs (wanted: ${bytes(data['wanted_bytes'])}); removing old log lines`,
  'logs.nothing-left-to-cut': () => 'no old log lines left to remove: other files fill the disk',
  'logs.disk-enough': (data) => `enough disk space for logs again: ${bytes(data['free_bytes'])} free`,
  'dashboard.opened': (data) => `the page is served at ${text(data['address'])}`,
  'dashboard.closed': (data) => `the page is no longer served at ${text(data['address'])}`,
  'dashboard.failed': (data) => `the page cannot be served: ${text(data['problem'])}`,
  'daemon.started': (data) =>
    `started, pid ${text(data['pid'])}, version ${text(data['version'])}${data['respawned'] === true ? '; the guardian brought it back' : ''}`,
  'daemon.ended': ({ how, sessions_ending: left }) =>
    `ended: ${typeof how === 'string' && Object.hasOwn(ENDINGS, how) ? ENDINGS[how] : text(how)}${Array.isArray(left) ? `; not ended yet: ${left.length === 1 ? 'session' : 'sessions'} ${left.join(', ')}` : ''}`,
  'store.quarantined': (data) =>
    `the history was damaged (${text(data['problem'])}); it was moved to ${text(data['file'])} and a new one was begun`,
  'store.replaced': (data) => `${text(data['problem'])}; a new history was begun`,
  'store.events-dropped': (data) => `${text(data['events'])} events could not be written and are lost`,
  'store.probes-dropped': () => 'results of probes could not be written and are lost',
  'store.samples-dropped': () => 'measurements of CPU and memory could not be written and are lost',
  'store.events-lost': (data) => `events after number ${text(data['after'])} are lost: ${text(data['reason'])}`,
};

const thawed = ({ reason, silent_ms }: Data): string =>
  `no longer frozen: ${text(reason)}${silent_ms === undefined ? '' : ` after ${duration(silent_ms)}`}`;

const unlimited = ({ limit, max, why }: Data): string =>
  `the limit ${text(limit)} ${text(max)} is not enforced: ${text(why)}`;

function examined({ busy, stopped, lines, postponed_ms }: Data): string {
  const found = [stopped, busy].filter((each) => typeof each === 'string');
  const more = postponed_ms === null ? '' : `; given ${duration(postponed_ms)} more`;
  return `its processes were examined: ${found.join('; ') || 'they are idle'} (${text(lines)} lines of evidence)${more}`;
}

/** What happened, without who and when. */
export function eventSentence({ type, data }: EventView): string {
  const known = Object.hasOwn(SENTENCES, type) ? SENTENCES[type] : undefined;
  const sentence = known ? known(data) : [type, pairs(data)].filter(Boolean).join(' ');
  return oneLine(sentence);
}

export function eventLine(event: EventView, paint: Paint): string {
  const { at, seq, subject } = event;
  const head = `${paint.dim(localTime(at))}  ${paint.dim(String(seq).padStart(5))}`;
  const name = subject.kind === 'daemon' ? 'daemon' : subject.name;
  return `${head}  ${paint.bold(sanitise(name))}  ${eventSentence(event)}`;
}

const pairs = (data: Data): string =>
  Object.entries(data)
    .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' ');
