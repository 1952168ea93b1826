/** The first and the last words. */

import { formatDuration } from '../../base/pure/format.ts';
import { table } from '../print/table.ts';
import { displayWidth } from '../print/width.ts';
import { type Narrator, wrap } from './narrator.ts';
import type { Place } from './place.ts';
import type { Outcome } from './scene.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function tellBeginning(narrator: Narrator, { dir }: Place): void {
  narrator.line(narrator.paint.bold('Keepwell demo'));
  narrator.say(
    'Four small programs are started and then broken, one after the other, each in its own way. ' +
      'It takes about 15 seconds. Ctrl-C ends it at any time and cleans up.',
  );
  narrator.say(`Everything happens in ${dir}`);
}

/** What to type next: as it was called, by npx or installed. */
export function tellNext(narrator: Narrator, env: Environment): void {
  const keepwell = program(env);
  narrator.line();
  narrator.line('Now with your own programs, in their folder:');
  list(narrator, [
    [`${keepwell} init`, 'writes a first keepwell.yaml from what it finds there'],
    [`${keepwell} up`, 'starts everything and waits until it is ready'],
    [`${keepwell} status`, 'how everything is'],
  ]);
}

export function tellKept(narrator: Narrator, { dir, config }: Place, env: Environment): void {
  const keepwell = `${program(env)} -f ${config}`;
  narrator.line();
  narrator.line(`The stack is still up, in ${dir}.`);
  list(narrator, [
    [`${keepwell} status`, 'how it is'],
    [`${keepwell} why reports`, 'why the hanging one was ended'],
    [`${keepwell} down && rm -r ${dir}`, 'ends it and leaves nothing behind'],
  ]);
}

const program = (env: Environment): string => (env['npm_command'] === 'exec' ? 'npx keepwell' : 'keepwell');

/** Side by side where there is room, else one below the other: a command must never be broken. */
function list(narrator: Narrator, entries: readonly (readonly [command: string, what: string])[]): void {
  const width = Math.max(...entries.map(([command]) => command.length));
  for (const [command, what] of entries) {
    const beside = `  ${narrator.paint.cyan(command)}${' '.repeat(width - command.length)}  ${what}`;
    if (width + what.length + 4 <= narrator.width) narrator.line(beside);
    else {
      for (const line of wrap(`${what}:`, narrator.width)) narrator.line(line);
      narrator.line(`  ${narrator.paint.cyan(command)}`);
    }
  }
}

// The end of the story: what was broken, what Keepwell did about it, and how long that took.

const HEADER = ['WHAT WAS BROKEN', 'WHAT KEEPWELL DID', 'TOOK'] as const;

export function tellSummary(narrator: Narrator, outcomes: readonly Outcome[], tookMs: number): void {
  const { paint } = narrator;
  const rows = outcomes.map(({ broken, done, tookMs }) => [
    { text: broken, brush: paint.bold },
    { text: done },
    { text: formatDuration(tookMs), brush: paint.green },
  ]);
  const lines = table(HEADER, rows);
  const plain = table(
    HEADER,
    rows.map((cells) => cells.map(({ text }) => ({ text }))),
  );
  narrator.line();
  narrator.line(paint.bold(`Done in ${formatDuration(tookMs)}`));
  if (plain.every((line) => displayWidth(line) <= narrator.width)) for (const line of lines) narrator.line(line);
  else for (const { broken, done, tookMs } of outcomes) narrator.good(`${broken}: ${done} (${formatDuration(tookMs)})`);
}
