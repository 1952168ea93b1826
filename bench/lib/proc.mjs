/** What a process has used so far, read from /proc. */
import { readdirSync, readFileSync } from 'node:fs';
import { sum } from './stats.mjs';

const TICKS_PER_SECOND = 100;

/** User and system time in milliseconds, of the process and of the children it has waited for. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** The same to the nanosecond, without its children: a hundredth of a second is much for a process that rests. */
export function restingMs(pid) {
  return sum(tasks(pid, (task) => Number(read(`${task}/schedstat`).split(' ')[0] || 0))) / 1e6;
}

/** How often it went to sleep by itself, which is as often as it was woken up. */
export function wakeUps(pid) {
  return sum(tasks(pid, (task) => Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(read(`${task}/status`))?.[1] ?? 0)));
}

function tasks(pid, of) {
  try {
    return readdirSync(`/proc/${pid}/task`).map((task) => of(`/proc/${pid}/task/${task}`));
  } catch {
    return []; // it is gone
  }
}

export const rssMb = (pid) => Math.round(rssKb(pid) / 1_024);

export const rssKb = (pid) => field(`/proc/${pid}/status`, 'VmRSS');

/** Its share of the memory it uses together with others, or all of it where the kernel does not tell. */
export function pssKb(pid) {
  return field(`/proc/${pid}/smaps_rollup`, 'Pss') || rssKb(pid);
}

export const shareOfACore = (usedMs, tookMs) => ((usedMs / tookMs) * 100).toFixed(2);

/** Every process that was given `NAME=value` in its environment and has not dropped it. */
export function pidsWith(name, value) {
  const wanted = `${name}=${value}\0`;
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((entry) => `\0${read(`/proc/${entry}/environ`)}`.includes(`\0${wanted}`))
    .map(Number);
}

/** Whether its environment can be read, and does not have it. That of one that is being replaced by another program is empty for a moment. */
export function lacks(pid, name, value) {
  const environment = read(`/proc/${pid}/environ`);
  return environment !== '' && !`\0${environment}`.includes(`\0${name}=${value}\0`);
}

/** Every process that has the word somewhere among its arguments. */
export function pidsNaming(word) {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((entry) => read(`/proc/${entry}/cmdline`).includes(word))
    .map(Number);
}

export const isThere = (pid) => !/^[ZX]?$/.test(stateOf(pid));

const stateOf = (pid) => /\) (\S)/.exec(read(`/proc/${pid}/stat`))?.[1] ?? '';

function read(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it is gone, or not ours to look at
  }
}

/** 0 of one that is gone. */
function field(path, name) {
  const [, kb] = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(read(path)) ?? [];
  return Number(kb ?? 0);
}
