/** Tables for people who read the text itself, too: the columns are aligned. */

const FIRST = 0;

/** `rows`: lists of cells, the first one being the heads. Numbers stand to the right, words to the left. */
export function table(rows) {
  const cells = rows.map((row) => row.map((cell) => String(cell)));
  const widths = cells[FIRST].map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const isRight = widths.map((_, column) => column > 0 && cells.slice(1).every((row) => isFigure(row[column])));
  const line = (row) => `| ${row.map((cell, column) => pad(cell, widths[column], isRight[column])).join(' | ')} |`;
  const rule = widths.map((width, column) => (isRight[column] ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width)));
  return [line(cells[FIRST]), `| ${rule.join(' | ')} |`, ...cells.slice(1).map(line)].join('\n');
}

const isFigure = (cell) => /^[-–0-9]/.test(cell) || cell === '';
const pad = (cell, width, isRight) => (isRight ? cell.padStart(width) : cell.padEnd(width));

/** Three figures that count, and thousands apart: 0.0123, 1.23, 12.3, 123, 1,234. */
export function figure(number) {
  if (number === null || number === undefined || Number.isNaN(number)) return '–';
  if (number === 0) return '0';
  const digits = Math.min(4, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number)))));
  return number.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
