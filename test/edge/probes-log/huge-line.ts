/** A program: follows a log that grows by 200 MB without a single line break, and says by how much its memory grew. */
import { appendFileSync } from 'node:fs';
import { silentLog } from '../../../src/base/log.ts';
import { Follower } from '../../../src/probes/log/follower.ts';
import { HeldLogs, LogPoll, ReadBuffers } from '../../../src/probes/log/log-file.ts';
import { neverShortened } from './target.ts';

const [path] = process.argv.slice(2) as [string];
const PIECE = Buffer.alloc(4_000_000, 'x');
const PIECES = 50;

async function main(): Promise<void> {
  const limits = { everyMs: 1_000, bytesPerRound: 1e9, bytesPerRoundInAll: 1e9 };
  const world = {
    poll: new LogPoll(limits),
    buffers: new ReadBuffers(),
    log: silentLog,
    holds: new HeldLogs(),
    place: neverShortened,
  };
  const lines: string[] = [];
  const onLines = async (text: string): Promise<void> => void lines.push(text);
  const follower = new Follower({ path, from: 0, onLines }, world);
  let rssBefore = 0;
  for (let piece = 0; piece < PIECES; piece++) {
    appendFileSync(path, PIECE);
    await follower.look();
    if (piece === 2) rssBefore = process.memoryUsage().rss; // the program itself has warmed up
  }
  appendFileSync(path, '\nready\n');
  await follower.look();
  const { hasCaughtUp, skippedBytes } = follower;
  await follower.close();
  const grownBytes = process.memoryUsage().rss - rssBefore;
  console.log(
    JSON.stringify({
      grownBytes,
      lengths: lines.map((text) => text.length),
      last: lines.at(-1),
      hasCaughtUp,
      skippedBytes,
    }),
  );
}

void main();
