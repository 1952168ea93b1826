/**
 * The thread in which regular expressions are tried, so that one that never comes to an end holds up nobody: it can be ended from
 * outside. One question at a time; see pattern-matcher.ts.
 */
import { readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { MAX_FOUND } from './limits.ts';
import type { MatchQuestion, MatchReply, ThreadGreeting } from './pattern-matcher.ts';

function answer({ expression, flags, lines }: MatchQuestion): MatchReply {
  try {
    const matcher = new RegExp(expression, flags);
    const starts: number[] = [];
    for (let at = 0; at < lines.length && starts.length < MAX_FOUND; ) {
      const end = lines.indexOf('\n', at);
      if (matcher.test(lines.slice(at, end))) starts.push(at);
      at = end + 1;
    }
    return { starts };
  } catch (error) {
    return { error: String(error) }; // too large to be compiled, or too deep to be followed
  }
}

/** By which the kernel knows this thread: "PID/task/TID". */
function ownThreadId(): number | null {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return null;
  }
}

parentPort?.on('message', (question: MatchQuestion) => parentPort?.postMessage(answer(question)));
parentPort?.postMessage({ tid: ownThreadId() } satisfies ThreadGreeting);
