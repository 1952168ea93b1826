/**
 * The chatty component: for each line "BYTES LINES" in its command FIFO it writes so many bytes of 100-byte lines to its standard
 * output, LINES with each write, and says how long that took. Arguments: announcement-fifo fleet name command-fifo
 */
import { openSync, readSync, writeSync } from 'node:fs';

const LINE = `${'x'.repeat(99)}\n`;
const [announcements, fleet, name, commands] = process.argv.slice(2);
const told = openSync(announcements, 'w');
const asked = openSync(commands, 'r+'); // both ends, so that reading waits instead of ending

const tell = (words) => writeSync(told, `${fleet} ${name} ${process.pid} ${words}\n`);

function write(bytes, lines) {
  const block = Buffer.from(LINE.repeat(lines));
  let written = 0;
  const began = process.hrtime.bigint();
  while (written < bytes) written += writeAll(block);
  return { written, tookUs: Number((process.hrtime.bigint() - began) / 1_000n) };
}

function writeAll(block) {
  for (let from = 0; from < block.length; ) {
    try {
      from += writeSync(1, block, from);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error; // somebody gave us a pipe that does not wait: try again
    }
  }
  return block.length;
}

tell('');
for (const buffer = Buffer.alloc(256); ; ) {
  const [bytes, lines] = buffer.toString('utf8', 0, readSync(asked, buffer)).split(' ').map(Number);
  const { written, tookUs } = write(bytes, lines);
  tell(`wrote ${written} ${tookUs}`);
}
