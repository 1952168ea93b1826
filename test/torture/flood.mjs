// A component: writes four megabytes at a time, fifty times a second if the disk allows, for so many seconds; then it sits still.
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const [seconds] = process.argv.slice(2).map(Number);
const block = Buffer.from('a line of a flood, one of very many\n'.repeat(111_112).slice(0, 4_000_000 - 1) + '\n');
const end = performance.now() + seconds * 1_000;
let written = 0;
while (performance.now() < end) {
  for (let done = 0; done < block.length; ) done += writeSync(1, block, done);
  written += block.length;
  await pause(20);
}
writeSync(1, `the flood is over: ${written}\n`);
setInterval(() => {}, 1_000_000);
