// A component: writes so many numbered lines to its standard output, a thousand at a time, and pauses in between.
// node line-writer.mjs LINES PAUSE_MS
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const [lines, pauseMs] = process.argv.slice(2).map(Number);
for (let first = 0; first < lines; first += 1_000) {
  let text = '';
  for (let n = first; n < Math.min(lines, first + 1_000); n++) text += `line ${String(n).padStart(9, '0')}\n`;
  for (let done = 0; done < text.length; ) done += writeSync(1, text.slice(done));
  if (pauseMs > 0) await pause(pauseMs);
}
