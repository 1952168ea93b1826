/** Sizes as people write them in a configuration: `512MiB`, `50MB`, `1.5GB`. `MB` is 10^6 bytes, `MiB` is 2^20. */

const UNITS = [
  ['TiB', 2 ** 40],
  ['TB', 10 ** 12],
  ['GiB', 2 ** 30],
  ['GB', 10 ** 9],
  ['MiB', 2 ** 20],
  ['MB', 10 ** 6],
  ['KiB', 2 ** 10],
  ['KB', 10 ** 3],
  ['B', 1],
] as const;

export const SIZE_PATTERN = /^(\d{1,12}(?:\.\d{1,6})?)(B|KB|KiB|MB|MiB|GB|GiB|TB|TiB)$/;

/** A pebibyte. More is a slip of the keyboard. */
export const MAX_SIZE_BYTES = 2 ** 50;

/** Whole bytes, or null when the text is not a size. */
export function parseSize(text: string): number | null {
  const match = SIZE_PATTERN.exec(text);
  const unit = match && UNITS.find(([name]) => name === match[2]);
  return match && unit ? Math.round(Number(match[1]) * unit[1]) : null;
}

/** The shortest text that `parseSize` reads back as the same number. */
export function sizeText(bytes: number): string {
  const [unit, size] = UNITS.find(([, each]) => bytes >= each && bytes % each === 0) ?? ['B', 1];
  return `${bytes / size}${unit}`;
}

/** What somebody who wrote `512`, `512M`, `1g` or `512 mb` should have written. */
export function sizeHint(written: string): string {
  const match = /^(\d{1,12}(?:\.\d{1,6})?) ?([kmgt]?)(i?)(b?)(?:ytes?)?$/i.exec(written.trim());
  if (!match) return 'Write a number with its unit: 512MiB (2^20 bytes each), 50MB (10^6 bytes each), 1.5GB.';
  const [, count, letter = '', binary] = match;
  if (letter === '') return `Write ${count}MiB, ${count}MB or ${count}B: a size needs its unit.`;
  const unit = letter.toUpperCase();
  if (binary) return `Write ${count}${unit}iB.`;
  return `Write ${count}${unit}iB (2^${unit === 'K' ? 10 : unit === 'M' ? 20 : unit === 'G' ? 30 : 40} bytes each) or ${count}${unit}B (10^${unit === 'K' ? 3 : unit === 'M' ? 6 : unit === 'G' ? 9 : 12}).`;
}
