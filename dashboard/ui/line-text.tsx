/** One line of output with its colours, as text. */
import { ansiSpans } from '../lib/ansi.ts';

/** Longer lines are cut for the eye; the download has all of it. */
export const MAX_SHOWN = 8_000;

export const LineText = ({ line }: { line: string }) => (
  <>
    {ansiSpans(line.slice(0, MAX_SHOWN)).map(({ text, classes }, at) =>
      classes === '' ? (
        text
      ) : (
        <span key={`${at}`} class={classes}>
          {text}
        </span>
      ),
    )}
    {line.length > MAX_SHOWN ? <em class="dim">{` … ${line.length - MAX_SHOWN} more characters`}</em> : null}
  </>
);
