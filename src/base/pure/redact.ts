/**
 * Takes secrets out of text before it is stored or shown: private keys, what stands behind a telling name, what has the shape of a
 * secret, and values that are known. All of them are looked for in the original text, and hidden together: were known values replaced
 * first, one that is the word "password" would take away the name by which the next secret is told. Linear: a program may end after
 * writing a megabyte without a blank.
 */
import { COLOUR, ESCAPE_SEQUENCE } from './escapes.ts';
import { assignedIn } from './redact/assigned.ts';
import { type Cut, knownIn } from './redact/known.ts';
import { privateKeysIn } from './redact/private-keys.ts';
import { cutShapesIn, shapesIn } from './redact/shapes.ts';
import { hide, type Span } from './redact/span.ts';

export { type Cut, SECRET_NAME, secretValues, tellsSecret } from './redact/known.ts';

/** `known`: exact values that must never appear, such as those of the component's secret-looking variables. */
export function redact(text: string, known: readonly string[] = [], cut: Cut = {}): string {
  const spans = viewsOf(text).flatMap((view) => secretsIn(view.text, known, cut).map(view.original));
  return hide(text, spans);
}

const secretsIn = (text: string, known: readonly string[], cut: Cut): readonly Span[] => [
  ...privateKeysIn(text),
  ...assignedIn(text),
  ...shapesIn(text),
  ...(cut.end ? cutShapesIn(text) : []),
  ...(cut.start ? cutUserInfoIn(text) : []),
  ...knownIn(text, known, cut),
];

/** The end of "postgres://user:password@db:5432/app". */
const CUT_USERINFO = /^([^\s/@"']{1,200})@(?=[\w.-]{1,253}(?::\d{1,5})?\/)/;

function cutUserInfoIn(text: string): readonly Span[] {
  const [, userInfo] = CUT_USERINFO.exec(text) ?? [];
  return userInfo === undefined ? [] : [{ from: 0, to: userInfo.length }];
}

interface View {
  readonly text: string;
  /** The span in the original text. */
  original(span: Span): Span;
}

const asIs = (text: string): View => ({ text, original: (span) => span });

function viewsOf(text: string): readonly View[] {
  if (!text.includes('\u001b')) return [asIs(text)];
  return [without(text, ESCAPE_SEQUENCE, ''), without(text, COLOUR, ' ')];
}

function without(text: string, sequences: RegExp, instead: string): View {
  const kept: string[] = [];
  /** For each character of the view, its place in the original. */
  const places = new Uint32Array(text.length);
  let length = 0;
  let from = 0;
  const keep = (to: number) => {
    kept.push(text.slice(from, to));
    for (let at = from; at < to; at++) places[length++] = at;
  };
  for (const { 0: sequence, index } of text.matchAll(sequences)) {
    keep(index);
    kept.push(instead);
    for (let n = 0; n < instead.length; n++) places[length++] = index;
    from = index + sequence.length;
  }
  keep(text.length);
  return {
    text: kept.join(''),
    original: (span) =>
      span.to <= span.from ? { from: 0, to: 0 } : { from: places[span.from]!, to: places[span.to - 1]! + 1 },
  };
}
