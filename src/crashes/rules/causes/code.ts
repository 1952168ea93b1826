/** Mistakes in the program itself that have a name. */
import { firstMatch, type Rule } from './cause.ts';

const syntax: Rule = ({ errorType, message, where }) =>
  errorType !== null && /^(?:SyntaxError|IndentationError|TabError|syntax error)$/.test(errorType) && where !== ''
    ? `the code cannot be read${where}: ${(message ?? '').split('\n', 1)[0]}`
    : null;

const recursion: Rule = ({ text, where }) =>
  /RecursionError|maximum recursion depth|Maximum call stack size exceeded|StackOverflow|[Ss]tack overflow|goroutine stack exceeds|SystemStackError|stack level too deep/.test(
    text,
  )
    ? `a function calls itself without end${where}`
    : null;

const NOTHING: readonly RegExp[] = [
  /Cannot (?:read|set) propert(?:y|ies) (?:of (?:undefined|null) \((?:reading|setting) )?'([^']{1,200})'/,
  /'NoneType' object has no attribute '([^']{1,200})'/,
  /undefined method [`']([^'`]{1,200})' for nil/,
  /Cannot invoke "([^"]{1,300})" because/,
  /'NoneType' object is not|NullPointerException|NullReferenceException|nil pointer dereference|`None` value|(?:null|undefined) is not (?:an object|iterable)/,
];

const nothingThere: Rule = ({ text, where }) => {
  const name = firstMatch(text, NOTHING);
  if (name === null) return null;
  const use = name === '' ? 'something' : `'${name}' of something`;
  return `the code uses ${use} that is empty (null)${where}`;
};

const FIXED: readonly (readonly [RegExp, string])[] = [
  [/all goroutines are asleep - deadlock/, 'all goroutines wait for each other (deadlock)'],
  [
    /concurrent map (?:iteration and map )?(?:read|write|writes)|concurrent map/,
    'several goroutines use a map at the same time without a lock',
  ],
  [/^DATA RACE/, 'two goroutines use the same memory without a lock (data race)'],
  [/database is locked|SQLITE_BUSY/, 'another process holds the database locked'],
  [
    /JSONDecodeError|Unexpected token .{1,40} in JSON|is not valid JSON|Unexpected end of JSON input|JsonReaderException|invalid character .{1,20} looking for beginning/,
    'it read something that is not valid JSON',
  ],
  [
    /^(?:SIGSEGV|SIGBUS)\b|Segmentation fault|signal SIGSEGV/,
    'native code touched memory that is not its own (segmentation fault)',
  ],
  [/^killed child: \d+ Killed/, 'a command of the script was killed (SIGKILL), which is often for lack of memory,'],
  [/^KeyboardInterrupt\b/, 'it was interrupted (SIGINT)'],
];

const named: Rule = ({ text, where }) => {
  const found = FIXED.find(([expression]) => expression.test(text));
  return found ? `${found[1]}${where}` : null;
};

const sent: Rule = ({ errorType, frames }) =>
  errorType !== null && frames.length === 0 && /^SIG(?:QUIT|TERM|INT|HUP|ABRT|USR[12])$/.test(errorType)
    ? `it was sent ${errorType}`
    : null;

export const CODE: readonly Rule[] = [sent, recursion, nothingThere, named, syntax];

// What the machine could not give: space, memory, rights, files.

const noSpace: Rule = ({ text }) =>
  /ENOSPC|[Nn]o space left on device|StorageFull|not enough space on the disk|database or disk is full|There is not enough space/.test(
    text,
  )
    ? 'there is no space left on the disk (or no inodes): free some, then start it again'
    : /EDQUOT|[Dd]isk quota exceeded/.test(text)
      ? 'its disk quota is used up'
      : null;

const MEMORY: readonly (readonly [RegExp, string])[] = [
  [
    /JavaScript heap out of memory|Reached heap limit/,
    'its JavaScript heap is full: find the leak, or raise --max-old-space-size',
  ],
  [/OutOfMemoryError: Metaspace/, 'the memory for classes of its virtual machine is full: raise -XX:MaxMetaspaceSize'],
  [
    /unable to create (?:new )?native thread/,
    'it may not start another thread: it has too many, or limits.pids is too low',
  ],
  [/OutOfMemoryError|GC overhead limit/, 'the heap of its virtual machine is full: find the leak, or raise -Xmx'],
  [/CUDA out of memory|CUDA error: out of memory|OutOfMemoryError: CUDA/, 'the memory of the GPU is full'],
  [
    /\bMemoryError\b|NoMemoryError|OutOfMemoryException|[Cc]annot allocate memory|ENOMEM|runtime: out of memory|memory allocation of \d+ bytes failed|std::bad_alloc|[Oo]ut of memory/,
    'it could not get the memory that it asked for',
  ],
];

const noMemory: Rule = ({ text, place, context }) => {
  if (context.exit?.oom) return 'the kernel killed it because there was no memory left for it';
  const gpu = MEMORY[4]!;
  if (gpu[0].test(text)) return `${gpu[1]}${place('in')}`;
  const found = MEMORY.find(([expression]) => expression.test(text));
  return found ? `${found[1]}${place('in')}` : null;
};

const DENIED: readonly RegExp[] = [
  /Permission denied: '([^'\n]{1,500})'/,
  /(?:EACCES|EPERM): [^,\n]{1,60}, \w+ '([^'\n]{1,500})'/,
  /Permission denied @ \w+ - ([^\n]{1,500})/,
  /AccessDeniedException: ([^\n]{1,500})/,
  /Access to the path '([^'\n]{1,500})' is denied/,
  /FileNotFoundException: ([^\n(]{1,500}?) \(Permission denied\)/,
  /(?:open|mkdir|stat|exec|fork\/exec|unlink|read) (\S{1,500}): (?:permission denied|operation not permitted)/,
  /(?:^|: )([^\s:]{1,500}): Permission denied$/m,
  /EACCES|EPERM|PermissionError|[Pp]ermission denied|PermissionDenied|UnauthorizedAccessException|[Oo]peration not permitted/,
];

const notAllowed: Rule = ({ text, place }) => {
  const path = firstMatch(text, DENIED);
  if (path === null) return null;
  return path === ''
    ? `it is not allowed to do that${place('in')}: check owner and mode of what it touches, and the user it runs as`
    : `it may not use ${path}${place('in')}: check its owner and mode, and the user the component runs as`;
};

const tooManyFiles: Rule = ({ text }) =>
  /EMFILE|ENFILE|[Tt]oo many open files/.test(text)
    ? 'it has too many files or sockets open: find what does not close them, or raise limits.nofile'
    : null;

const wrongBinary: Rule = ({ text }) => {
  const [, version] = /version `(GLIBC\w*_[\d.]+)' not found/.exec(text) ?? [];
  if (version !== undefined) return `the program was built for a newer system: ${version} is not there`;
  if (/Exec format error|cannot execute binary file/.test(text))
    return 'the program was built for another kind of processor, or is no program';
  if (/UnsupportedClassVersionError/.test(text)) return 'it was compiled for a newer Java than the one that runs it';
  return null;
};

export const MACHINE: readonly Rule[] = [noSpace, noMemory, tooManyFiles, wrongBinary];
/** Asked after the network: a port below 1024 is denied too. */
export const RIGHTS: readonly Rule[] = [notAllowed];
