/** The end of the story: what was broken, what Keepwell did about it, and how long that took. */
import { formatDuration } from '../../base/pure/format.ts';
import { table } from '../print/table.ts';
import { displayWidth } from '../print/width.ts';
import type { Narrator } from './narrator.ts';
import type { Outcome } from './scene.ts';

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
