/**
 * Takes secrets out of text before it is stored or shown: private keys, what stands behind a telling name, what has the shape of a
 * secret, and values that are known. All of them are looked for in the original text, and hidden together: were known values replaced
 * first, one that is the word "password" would take away the name by which the next secret is told. Linear: a program may end after
 * writing a megabyte without a blank.
 */
import { assignedIn } from './redact/assigned.ts';
import { type Cut, knownIn } from './redact/known.ts';
import { privateKeysIn } from './redact/private-keys.ts';
import { cutShapesIn, shapesIn } from './redact/shapes.ts';
import { hide, type Span } from './redact/span.ts';
import { viewsOf } from './redact/views.ts';

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
