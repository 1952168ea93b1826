/** What a program without a readable stack says last: a complaint right before its end is why it ended; an older one is not. */
import type { ExitView } from '../exit.ts';
import type { Found } from './crash.ts';
import { isFarewell, isRemark } from './last-lines.ts';
import type { LogLine } from './lines.ts';

export interface Words {
  /** The line as a whole. */
  readonly line: string;
  /** "ImportError", when the line names one. */
  readonly type: string | null;
  readonly message: string;
  /** It says that something went wrong; otherwise it is just the last line. */
  readonly isComplaint: boolean;
}

/** The last words of a program are among so many lines. */
const LAST_LINES = 20;
const MAX_WORDS_CHARS = 500;

const COMPLAINT =
  /\b(?:error|fatal|panic|emerg|alert|crit(?:ical)?|exception|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|denied|refused|not found|no such|missing|invalid|unknown|unexpected|abort(?:ed|ing)?|killed|segmentation fault|already in use|out of memory|timed? ?out|unrecognized|required|not set|terminate called|what\(\)|assertion|not a (?:directory|file)|too many|no space|not permitted|unsupported|illegal|corrupt(?:ed)?|incompatible|mismatch|does not (?:exist|match)|must be|expected)\b/i;
/** "ERROR agent: ImportError: cannot import name 'x'", "error='ValueError: no'". */
const TYPED =
  /(?:^|[\s:=('"[])((?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z][A-Za-z0-9]{0,60}(?:Error|Exception|Interrupt|Timeout|Failure))(?:: |\()(.{0,400})$/;
const NO_COMPLAINT = /\b(?:0|no|without) (?:errors?|failures?)\b/i;
/** Nothing went wrong in these. */
const CALM =
  /\b(?:ok|done|ready|started|starting|listening|success(?:ful(?:ly)?)?|succeeded|complete[ds]?|healthy|running|connected|loaded|processed|handled|served|serving|well|alive|heartbeat|tick|polling|waiting)\b|" [23]\d\d \d|^(?:GET|POST|PUT|HEAD|DELETE|PATCH) /i;

/** Signals with which a program ends itself after it has said why. */
const OWN_SIGNALS: readonly (string | null)[] = [null, 'SIGABRT', 'SIGTRAP'];

export function lastWords(lines: readonly LogLine[], errors: readonly Found[], exit: ExitView): Words | null {
  if (!OWN_SIGNALS.includes(exit.signal)) return null;
  const last = lines.flatMap((line, at) => (line.text.trim() === '' ? [] : [{ ...line, at }]));
  let conclusion: Words | null = null;
  for (const { at, ...line } of last.slice(-LAST_LINES).reverse()) {
    const { text } = line;
    // Its last words are an error that is told in another way; that it ends is no cause.
    if (errors.some((found) => at >= found.first && at <= found.last)) return null;
    const isDetail = isRemark(text) || /^\s/.test(text);
    const complaint = complaintIn(line);
    if (complaint !== null && !isDetail && !isFarewell(text)) return complaint;
    if (!isDetail && !isFarewell(text)) return conclusion ?? justLast(line, exit);
    if (!isRemark(text)) conclusion ??= complaint;
  }
  return conclusion;
}

function complaintIn({ text, mood }: LogLine): Words | null {
  if (mood === 'calm') return null;
  const line = text.trim().slice(0, MAX_WORDS_CHARS);
  const [, type, message] = TYPED.exec(line) ?? [];
  if (type !== undefined) {
    const name = type.slice(type.lastIndexOf('.') + 1);
    return { line, type: name, message: message!.trim(), isComplaint: true };
  }
  const complains = mood === 'severe' || (COMPLAINT.test(line) && !NO_COMPLAINT.test(line));
  return complains ? { line, type: null, message: line, isComplaint: true } : null;
}

/** The last line of a program that ended by itself, unless it is about something that went well. */
function justLast({ text, logged }: LogLine, exit: ExitView): Words | null {
  if (exit.signal !== null || logged || CALM.test(text)) return null;
  const line = text.trim().slice(0, MAX_WORDS_CHARS);
  return { line, type: null, message: line, isComplaint: false };
}
