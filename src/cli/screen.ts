/** Something shown again and again: a terminal is redrawn in place; elsewhere, and as JSON, one answer follows the other. */

import type { CliCall } from './call.ts';
import { pause } from './interrupt.ts';

const ENTER_SCREEN = '\u001b[?1049h';
const LEAVE_SCREEN = '\u001b[?1049l';
const FROM_TOP = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_REST = '\u001b[J';
const USUAL_ROWS = 24;

/** What is shown: lines for people, a value for programs. */
export interface Frame {
  readonly lines: readonly string[];
  readonly value: unknown;
}

/** Ends by Ctrl-C only, or when `look` fails. */
export async function showAgain(call: CliCall, everyMs: number, look: () => Promise<Frame>): Promise<never> {
  const { world, signal, json } = call;
  const redraw = world.out.isTty && !json;
  if (redraw) world.out.write(ENTER_SCREEN);
  try {
    for (;;) {
      const { lines, value } = await look();
      if (json) call.printJsonLine(value);
      else if (redraw) world.out.write(drawn(lines, world.out.rows ?? USUAL_ROWS));
      else world.out.write(`${lines.join('\n')}\n\n`);
      await pause(everyMs, signal);
    }
  } finally {
    if (redraw) world.out.write(LEAVE_SCREEN);
  }
}

function drawn(lines: readonly string[], rows: number): string {
  const shown = lines.slice(0, rows - 1).map((line) => `${line}${CLEAR_LINE}\n`);
  return `${FROM_TOP}${shown.join('')}${CLEAR_REST}`;
}
