/** Regular expressions that are known to run wild, each with a line that makes it do so. A linear engine could save some of them, not all. */

const many = (text: string, end = '!', count = 60): string => text.repeat(count) + end;

export const WILD_EXPRESSIONS: readonly (readonly [expression: string, line: string])[] = [
  ['/^(a+)+$/', many('a')],
  ['/^(a|a)*$/', many('a')],
  ['/^(a|aa)+$/', many('a')],
  ['/^(a*)*$/', many('a')],
  ['/^([a-zA-Z]+)*$/', many('a')],
  ['/(a+){10,}$/', many('a')],
  ['/^(.*a){12}$/', many('a', '!', 200)],
  ['/(x+x+)+y/', many('x')],
  ['/^(\\d+)*$/', many('1', 'x')],
  ['/^(\\w+\\s?)*$/', many('a')],
  ['/^(([a-z])+.)+[A-Z]([a-z])+$/', many('a')],
  ['/^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*@[a-z0-9]+[.]([a-z]{2,3})$/', many('a')],
  ['/^(?:(?:\\w+\\.)*\\w+)+$/', many('a')],
  ['/(?:a|b|ab)*c/', many('ab')],
  ['/^(\\S+\\s*)+:$/', many('a')],
  ['/<(?:[^>]+)*>$/', `<${many('a')}`],
  ['/^((ab)*)+$/', many('ab')],
  ['/(?:.|\\n|.)*x$/', many('a')],
  ['/^(?:-+-+)+>/', many('-')],
  ['/(\\s|\\s)+x$/', many(' ')],
  ['/^(?=(a+)+$)/', many('a')],
  ["/^(?:'(?:[^'\\\\]|\\\\.|[^'])*')+$/", `'${many('a')}`],
  ['/^((?:é|e)+)+$/iu', many('é')],
  ['/(?:(?:a|b){0,1000}){0,1000}c/', many('a')],
  // Not exponential, but bad enough for a long line.
  ['/.*.*.*=.*;/', many('x', '!', 8_000)],
  ['/\\s+\\s+\\s+$/', many(' ', 'x', 8_000)],
  // With a reference back to what was found: no linear engine takes these.
  ['/^(a+)+\\1$/', many('a')],
  ['/^(?:(a+)|(a+)\\2)*$/', many('a')],
];
