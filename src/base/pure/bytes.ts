/** Sizes in words, for sentences and tables. The configuration reads other forms, see config/size.ts. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;
const STEP = 1024;

/** "0 B", "41 MiB", "1.4 GiB": three digits are enough for people, and always 1024 to the next unit. */
export function formatBytes(bytes: number): string {
  let size = Number.isNaN(bytes) ? 0 : Math.max(0, bytes);
  let unit = 0;
  // Rounding comes first, so that 1023.9 KiB is "1 MiB" and never "1024 KiB".
  while (unit < UNITS.length - 1 && Math.round(size) >= STEP) {
    size /= STEP;
    unit += 1;
  }
  const shown = size < 10 && unit > 0 ? Math.round(size * 10) / 10 : Math.round(size);
  return `${shown} ${UNITS[unit]}`;
}

/** With one digit more: for two sizes side by side that would look the same. */
export function formatBytesFinely(bytes: number): string {
  const [, unit = 'B'] = formatBytes(bytes).split(' ');
  const size = bytes / STEP ** UNITS.indexOf(unit as (typeof UNITS)[number]);
  return `${Math.round(size * 100) / 100} ${unit}`;
}
