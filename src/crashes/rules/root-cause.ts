/** The root cause in one plain sentence: by the first rule that knows the symptoms, else by what was said and where. */
import { type Case, RULES, type Symptoms } from './causes.ts';
import type { CrashContext, CrashFrame } from './crash.ts';
import { firstLine } from './normalise.ts';

/** What rules look at: enough for a chain of errors, and never much. */
const MAX_TEXT_CHARS = 4_000;
const MAX_SENTENCE_CHARS = 400;

export function rootCauseOf(symptoms: Symptoms, context: CrashContext): string {
  const { where, place } = placesOf(symptoms.frames);
  return ruled({ ...symptoms, text: textOf(symptoms.said), where, place, context }) ?? plain(symptoms, where);
}

/** Of a line without a stack; null: no rule knows it. */
export function causeIn(line: string, context: CrashContext): string | null {
  const symptoms = {
    errorType: null,
    message: line,
    frames: [],
    language: null,
    lines: [line],
    said: [line],
    aside: '',
  };
  return ruled({ ...symptoms, text: textOf([line]), ...placesOf([]), context });
}

const textOf = (said: readonly string[]): string => said.join('\n').slice(0, MAX_TEXT_CHARS);

function ruled(symptoms: Case): string | null {
  for (const rule of RULES) {
    const sentence = rule(symptoms);
    if (sentence !== null) return shortened(sentence);
  }
  return null;
}

function plain({ errorType, message, aside }: Symptoms, where: string): string {
  const words = firstLine(message ?? '');
  const what =
    errorType === null
      ? words || 'an error whose name is not in the log,'
      : words
        ? `${errorType}: ${words}`
        : errorType;
  return shortened(`${what}${where}${aside}`);
}

const shortened = (text: string): string =>
  text.length > MAX_SENTENCE_CHARS ? `${text.slice(0, MAX_SENTENCE_CHARS)}…` : text;

/** The component's own call nearest to the error, for the two ways to put it. */
function placesOf(frames: readonly CrashFrame[]): Pick<Case, 'where' | 'place'> {
  const own = frames.find(({ inApp, file }) => inApp && file !== null) ?? frames.find(({ inApp }) => inApp);
  if (own === undefined) return { where: '', place: () => '' };
  const file = own.file === null ? [] : [own.line === null ? own.file : `${own.file}:${own.line}`];
  const name = own.function === null ? [] : [own.function];
  const where = name.length > 0 && file.length > 0 ? ` in ${name[0]} (${file[0]})` : ` in ${[...name, ...file][0]}`;
  return { where, place: (words) => ` (${words} ${[...name, ...file].join(', ')})` };
}
