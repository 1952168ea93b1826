/**
 * Measures how the source is laid out: files, lines, places per noun, private words, lines in the root.
 *   node scripts/house.mjs [REVISION]     the working tree, or any commit
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const NOUNS = ['session', 'agent', 'ticket', 'campaign', 'check'];
/** Words that named things here and nowhere else in this field (decision 0029). */
const PRIVATE_WORDS = (
  'aftermath carrier casework deed desk ear ears errand errands eye eyes followers hearing hearings patient rounds ' +
  'sight sights standing standings turns'
).split(' ');
/** Plain English for a value ("what was kept", "room for one more"), and private only as the name of a kind of thing or of a file. */
const PRIVATE_NOUNS = 'hand hands kept look looks passes room rooms'.split(' ');
/** Stored, and told in events: they keep the name that they were first stored under. */
const STORED_KEYS = ['deed', 'errands'];

const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
const revision = process.argv[2];
const within = (...folders) =>
  (revision ? git('ls-tree', '-r', '--name-only', revision, ...folders) : git('ls-files', ...folders)).split('\n');
const files = within('src').filter((file) => file.endsWith('.ts'));
const page = within('dashboard').filter((file) => /\.tsx?$/.test(file));
const tests = within('test').filter((file) => /\.(ts|mjs)$/.test(file));
const read = (file) => (revision ? git('show', `${revision}:${file}`) : readFileSync(file, 'utf8'));
const texts = new Map([...files, ...page].map((file) => [file, read(file)]));
const linesOf = (file) => texts.get(file).split('\n').length - 1;
const sum = (chosen) => chosen.reduce((total, file) => total + linesOf(file), 0);

/** A place of a noun: a folder that is named after it, or that holds a file which is. A folder inside its own counts once. */
function places(noun) {
  const found = new Set();
  for (const file of files) {
    const parts = file.split('/').slice(1);
    const at = parts.findIndex((part) => new RegExp(`(^|-)${noun}s?(-|\\.|$)`).test(part));
    if (at >= 0)
      found.add(at === parts.length - 1 ? posix.dirname(file) : ['src', ...parts.slice(0, at + 1)].join('/'));
  }
  return [...found].sort();
}

/** Words of identifiers that are declared in a file of the program or of the page, and of the names of all files. */
function privateWords() {
  const found = new Map();
  const note = (name, file, words) => {
    for (const word of name.split(/(?=[A-Z][a-z])|[_-]/).map((part) => part.toLowerCase()))
      if (words.includes(word)) found.set(word, (found.get(word) ?? new Set()).add(file));
  };
  for (const file of tests) note(posix.basename(file).split('.')[0], file, PRIVATE_WORDS);
  for (const [file, text] of texts) {
    note(posix.basename(file, '.ts'), file, [...PRIVATE_WORDS, ...PRIVATE_NOUNS]);
    for (const [, kind, name] of text.matchAll(/\b(const|let|function|class|interface|type|readonly)\s+#?(\w+)/g))
      if (['class', 'interface', 'type'].includes(kind)) note(name, file, [...PRIVATE_WORDS, ...PRIVATE_NOUNS]);
      else if (!STORED_KEYS.includes(name)) note(name, file, PRIVATE_WORDS);
  }
  return found;
}

console.log(`files\t${files.length}`);
console.log(`lines\t${sum(files)}`);
console.log(`lines in daemon/\t${sum(files.filter((file) => file.startsWith('src/daemon/')))}`);
for (const noun of NOUNS) console.log(`places of "${noun}"\t${places(noun).length}\t${places(noun).join(' ')}`);
const words = privateWords();
console.log(
  `private words\t${words.size}\t${[...words].map(([word, where]) => `${word} (${[...where].join(' ')})`).join(', ')}`,
);
