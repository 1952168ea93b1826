/** Log lines as people see them: name and time in front, harmless on a terminal. */
import type { LogLineView } from '../../logs/ports.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { sanitise } from '../print/sanitise.ts';
import { localTime } from '../print/time.ts';

export interface LineForm {
  readonly paint: Paint;
  /** The time in front. */
  readonly timestamps: boolean;
  /** So wide are the names in front; 0: none. */
  readonly nameWidth: number;
}

const UNKNOWN_TIME = '-'.padEnd('2026-01-02 03:04:05'.length);

export function lineText({ component, line, at, cut_bytes: cutBytes }: LogLineView, form: LineForm): string {
  const { paint, timestamps, nameWidth } = form;
  const time = timestamps ? `${paint.dim(at === null ? UNKNOWN_TIME : localTime(at))} ` : '';
  const name = nameWidth > 0 ? `${brushFor(component, paint)(component.padEnd(nameWidth))} | ` : '';
  const mark = cutBytes > 0 ? ` … ${cutBytes} bytes cut` : '';
  return `${time}${name}${sanitise(line, { colours: paint.isColorSupported })}${mark}`;
}

/** The same colour for the same name, whoever else is shown. */
function brushFor(name: string, paint: Paint): Brush {
  const brushes = [paint.cyan, paint.yellow, paint.green, paint.magenta, paint.blue];
  let sum = 0;
  for (const char of name) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003;
  return brushes[sum % brushes.length]!;
}
