/**
 * Where the members of an object stand in the text of a JSON document, so that some of them can be cut out and every other byte
 * stays as it is. Parsing and writing again would not do: keys that look like numbers change their order, and long numbers their value.
 * The text is known to be valid.
 */
export interface Member {
  readonly key: string;
  readonly keyStart: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** The members of the object at `field` (a name, or names with dots between them); null: there is no object there. */
export function membersAt(text: string, field: string): readonly Member[] | null {
  const start = valueAt(text, skipBlank(text, 0), field);
  return start === null ? null : membersOf(text, start);
}

/** The text without the members of these keys in the object at `field`. */
export function withoutMembers(text: string, field: string, keys: ReadonlySet<string>): string {
  const members = membersAt(text, field) ?? [];
  const kept = members.filter(({ key }) => !keys.has(key));
  const [first, last] = [members[0], members.at(-1)];
  if (kept.length === members.length || !first || !last) return text;
  const lastKept = kept.at(-1);
  if (!lastKept) return `${text.slice(0, openBefore(text, first))}${text.slice(closeAfter(text, last))}`;
  let rest = '';
  let from = 0;
  for (const [index, { key, keyStart }] of members.entries()) {
    const next = members[index + 1];
    if (!keys.has(key) || keyStart > lastKept.keyStart || !next) continue;
    rest += text.slice(from, keyStart);
    from = next.keyStart;
  }
  return `${rest}${text.slice(from, lastKept.valueEnd)}${text.slice(last.valueEnd)}`;
}

/** Behind the brace before it, and the brace behind it: an object without members has nothing between them. */
const openBefore = (text: string, { keyStart }: Member): number => text.lastIndexOf('{', keyStart) + 1;
const closeAfter = (text: string, { valueEnd }: Member): number => skipBlank(text, valueEnd);

function valueAt(text: string, start: number, field: string): number | null {
  const members = membersOf(text, start);
  if (!members) return null;
  const find = (key: string) => members.findLast((member) => member.key === key);
  const whole = find(field);
  if (whole) return whole.valueStart;
  const dot = field.indexOf('.');
  const outer = dot < 0 ? undefined : find(field.slice(0, dot));
  return outer ? valueAt(text, outer.valueStart, field.slice(dot + 1)) : null;
}

function membersOf(text: string, start: number): readonly Member[] | null {
  if (text[start] !== '{') return null;
  const members: Member[] = [];
  let at = skipBlank(text, start + 1);
  while (text[at] === '"') {
    const keyEnd = endOfString(text, at);
    const valueStart = skipBlank(text, skipBlank(text, keyEnd) + 1); // behind the colon
    const valueEnd = endOfValue(text, valueStart);
    members.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, keyStart: at, valueStart, valueEnd });
    at = skipBlank(text, valueEnd);
    if (text[at] === ',') at = skipBlank(text, at + 1);
  }
  return members;
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  return at;
}

/** Behind the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; ) {
    const char = text[at]!;
    if (char === '"') at = endOfString(text, at);
    else {
      if (depth === 0 && at > start && ',}] \t\n\r'.includes(char)) return at; // a number or a word
      if (char === '{' || char === '[') depth++;
      if (char === '}' || char === ']') depth--;
      at++;
    }
    if (depth === 0 && '"}]'.includes(char)) return at;
  }
  return text.length;
}
