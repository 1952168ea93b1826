/** One event in one line. */
import { formatDuration } from '../../core/format.ts';
import type { EventView } from '../../core/views.ts';
import type { Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { localTime } from './time.ts';

type Data = EventView['data'];

const text = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));
const duration = (value: unknown): string => formatDuration(Number(value));

const because = (what: string, { reason }: Data): string => (reason === undefined ? what : `${what}: ${text(reason)}`);

/** What the known types say. Everything else is printed as it is. */
const SENTENCES: Readonly<Record<string, (data: Data) => string>> = {
  'component.waiting': (data) => `waiting for ${text(data['for'])}`,
  'component.starting': (data) => (data['attempt'] === 'first' ? 'starting' : `starting (${text(data['attempt'])})`),
  'component.started': (data) => `started, pid ${text(data['pid'])}`,
  'component.exited': (data) =>
    `${text(data['exit'])} after ${duration(data['uptime_ms'])}; ${text(data['decision'] ?? data['rule'])}`,
  'component.backing-off': (data) => `restart in ${duration(data['in_ms'])}`,
  'component.gave-up': (data) => text(data['decision'] ?? `gave up (${text(data['rule'])})`),
  'component.completed': () => 'completed',
  'component.stopping': (data) => `stopping, ${text(data['signal'])} sent`,
  'component.stopped': () => 'stopped',
  'component.killed': (data) => `did not end within ${duration(data['grace_ms'])}, SIGKILL sent`,
  'component.unkillable': () => 'SIGKILL had no effect',
  'component.healthy': (data) => because('healthy', data),
  'component.unhealthy': (data) => because('unhealthy', data),
  'component.ready': (data) => because('ready', data),
  'component.not-ready': (data) => because('not ready any more', data),
  'component.daemonised': (data) => `put itself in the background (pids ${text(data['pids'])})`,
  'component.leftovers': (data) => `${text(data['exit'])}, and left processes behind: ${text(data['pids'])}`,
};

export function eventLine(event: EventView, paint: Paint): string {
  const known = Object.hasOwn(SENTENCES, event.type) ? SENTENCES[event.type] : undefined;
  const sentence = known ? known(event.data) : [event.type, pairs(event.data)].filter(Boolean).join(' ');
  const { at, seq, subject } = event;
  const head = `${paint.dim(localTime(at))}  ${paint.dim(String(seq).padStart(5))}`;
  const name = subject.kind === 'daemon' ? 'daemon' : subject.name;
  return `${head}  ${paint.bold(sanitise(name))}  ${sanitise(sentence.replaceAll('\n', ' '))}`;
}

const pairs = (data: Data): string =>
  Object.entries(data)
    .map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`)
    .join(' ');
