/** An entry of the daemon's log as a line for people. */
import { localTime } from './local-time.ts';

/** `2026-01-02 03:04:05 info  the daemon is up  pid=4711 version=0.1.0`; null: it is no such entry. */
export function daemonLine(entry: Readonly<Record<string, unknown>>): string | null {
  const { at, level, message, ...data } = entry;
  if (typeof message !== 'string') return null;
  const time = typeof at === 'string' ? `${localTime(at)} ` : '';
  const words = Object.entries(data).map(
    ([name, value]) =>
      `${name}=${typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`,
  );
  return [`${time}${typeof level === 'string' ? level.padEnd(5) : ''} ${message}`.trim(), ...words].join('  ');
}
