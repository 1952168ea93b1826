/** What reading logs takes, for the CLI, which loads it only when it does: a bundle of its own. */
export { biteFor, FileCursor } from './file-logs.ts';
export { LogFile } from './log-file.ts';
export { interleaved } from './read/interleave.ts';
export { matcherOf } from './read/match.ts';
