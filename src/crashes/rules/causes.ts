/** Causes that can be known by their symptoms: one rule each, which says a plain sentence or that it is something else. */

import type { CrashContext, ParsedCrash } from './crash.ts';

export interface Symptoms extends Pick<ParsedCrash, 'errorType' | 'message' | 'frames'> {
  readonly language: ParsedCrash['language'] | null;
  /** The lines of the crash, source code included. */
  readonly lines: readonly string[];
  /** What each error of the chain says, the innermost first. */
  readonly said: readonly string[];
  /** What belongs to it without being the cause: said when no rule knows better. */
  readonly aside: string;
}

export interface Case extends Symptoms {
  /** All that was said, as one text: what rules look for things in. Bounded. */
  readonly text: string;
  /** " in f (app/main.py:12)", or nothing. */
  readonly where: string;
  /** " (needed in f, app/main.py:12)", or nothing. */
  readonly place: (words: string) => string;
  readonly context: CrashContext;
}

/** One plain sentence without a full stop; null: it is something else. */
export type Rule = (symptoms: Case) => string | null;

/** The first group that took part, of the first expression that fits. */
function firstMatch(text: string, expressions: readonly RegExp[]): string | null {
  for (const expression of expressions) {
    const found = expression.exec(text);
    if (found) return found.slice(1).find((group) => group !== undefined && group !== '') ?? '';
  }
  return null;
}

// Something that the program needs is not there: a module, an export, a variable, a file, a command.

const missingExport: Rule = ({ text, frames }) => {
  const importer = frames.find(({ inApp, file }) => inApp && file !== null)?.file ?? null;
  const by = importer === null ? 'the import' : `the import in ${importer}`;
  const python =
    /cannot import name '([^']{1,200})' from (partially initialized module )?'([^']{1,200})'(?: \(most likely due to a circular import\))?(?: \(([^()\n]{1,500})\))?/.exec(
      text,
    );
  if (python) {
    const [, name, circular, module, file] = python;
    const place =
      file === undefined || file === 'unknown location' ? `module '${module}'` : `module '${module}' (${file})`;
    if (circular || text.includes('circular import')) {
      return `'${name}' is not there yet in ${place}: two modules import each other; move one of the imports into a function`;
    }
    return `${place} has no export '${name}': add it there, or correct ${by}`;
  }
  const node = /The requested module '([^']{1,300})' does not provide an export named '([^']{1,200})'/.exec(text);
  if (node) return `module '${node[1]}' has no export '${node[2]}': add it there, or correct ${by}`;
  const named =
    /Named export '([^']{1,200})' not found\. The requested module '([^']{1,300})' is a CommonJS module/.exec(text);
  if (named) return `module '${named[2]}' has no export '${named[1]}' because it is CommonJS: import it as a whole`;
  const method = /NoSuchMethodError: '?([^'\n]{1,300}?)'?$/m.exec(text);
  if (method && text.startsWith('NoSuchMethodError')) {
    return `the method ${method[1]} is missing in the version of the library that is installed: align the versions`;
  }
  const attribute = /module '([^']{1,200})' has no attribute '([^']{1,200})'/.exec(text);
  if (attribute) return `module '${attribute[1]}' has no export '${attribute[2]}': add it there, or correct its use`;
  return null;
};

const MODULES: readonly RegExp[] = [
  /No module named '?([\w.-]{1,200})/,
  /Cannot find (?:module|package) '([^']{1,300})'/,
  /cannot load such file -- (\S{1,300})/,
  /(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]{1,300})/,
  /Could not load file or assembly '([^',]{1,300})/,
  /error while loading shared libraries: ([^:\s]{1,200}):/,
  /no required module provides package ([^\s;:]{1,300})/,
  /Could not find gem '([^']{1,200})'/,
  /uninitialized constant ([\w:]{1,200})/,
];

const missingModule: Rule = ({ text, place, language }) => {
  const name = firstMatch(text, MODULES);
  if (name === null) return null;
  const [, importer] = /imported from (\S{1,400})/.exec(text) ?? [];
  const by = importer === undefined ? place('needed in') : ` (imported from ${importer})`;
  const isOwn = /^[./]/.test(name);
  return isOwn
    ? `the file of module '${name}' is not there${by}: correct the path, or build it first`
    : `${language === 'jvm' ? 'class' : 'module'} '${name}' is not installed or cannot be found${by}: install it, or correct its name`;
};

const VARIABLES: readonly RegExp[] = [
  /^unbound variable: (\w{1,100}): /,
  /^(?:[\w./~+-]{1,300}: )?(?:line )?\d{0,6}:? ?(\w{1,100}): (?:unbound variable|parameter (?:null or )?not set)$/m,
  /[Mm]issing (?:required )?(?:env(?:ironment)?\.? ?(?:variables?|vars?)):? [`'"]?([A-Za-z_]\w{0,100})/,
  /[Ee]nvironment variable [`'"]?([A-Z_][A-Z0-9_]{1,100})[`'"]? (?:is |was |must be )?(?:not |un|missing|required|set)/,
  /[`'"]?\b([A-Z_][A-Z0-9_]{1,100})\b[`'"]? (?:env(?:ironment)? ?(?:variable|var) )?(?:is|was|must be) (?:not set|unset|required|missing|not defined|set)\b/,
  /(?:environment variable|env var)[^\n]{0,40}? (?:not found|NotPresent|not set)[^\n]{0,10}?:? ?[`'"]?([A-Z_][A-Z0-9_]{1,100})?/,
  /process\.env\.(\w{1,100})\b/,
  /\bNotPresent$/m,
];

const missingVariable: Rule = ({ text, errorType, message, lines, frames, place }) => {
  const name = lookedUp(errorType, message, lines, frames) ?? firstMatch(text, VARIABLES);
  if (name === null) return null;
  if (name === '') return `an environment variable that it needs is not set${place('read in')}`;
  return `the environment variable ${name} is not set${place('read in')}: set it under env or in env_file`;
};

/** A dictionary of variables says only which key is missing: that it is the environment shows in the call. */
function lookedUp(
  ...[type, message, lines, frames]: [string | null, string | null, readonly string[], Parameters<Rule>[0]['frames']]
) {
  if (type !== 'KeyError' || message === null) return null;
  const [, name] = /^(?:key not found: )?['":]?([A-Za-z_]\w{0,100})['"]?$/.exec(message) ?? [];
  const isEnvironment =
    lines.some((line) => /os\.environ|environ\[|ENV\.fetch|ENV\[/.test(line)) ||
    frames.some(
      ({ file, function: call }) =>
        call !== null && /(?:^|\/)os\.py$|^<frozen os>$/.test(file ?? '') && call === '__getitem__',
    );
  const isVariable =
    name !== undefined && (isEnvironment || /^[A-Z][A-Z0-9_]+$/.test(name)) && (isEnvironment || frames.some(isFetch));
  return isVariable ? name : null;
}

const isFetch = ({ function: name }: { readonly function: string | null }): boolean => name === 'fetch';

const COMMANDS: readonly RegExp[] = [
  /(?:^|: )([^\s:]{1,200}): (?:command )?not found$/m,
  /command not found: (\S{1,200})/,
  /exec: "([^"]{1,300})": executable file not found in \$PATH/,
  /\bspawn (\S{1,300}) ENOENT/,
  /bad interpreter: |(\S{1,300}): cannot execute: required file not found/,
];

const missingCommand: Rule = ({ text, place }) => {
  const name = firstMatch(text, COMMANDS);
  if (name === null) return null;
  if (name === '') return `the interpreter in the first line of the script is not installed${place('in')}`;
  return `the command '${name}' is not installed, or not in PATH${place('called in')}`;
};

const FILES: readonly RegExp[] = [
  /No such file or directory: '([^'\n]{1,500})'/,
  /ENOENT: no such file or directory, \w+ '([^'\n]{1,500})'/,
  /No such file or directory @ \w+ - ([^\n]{1,500})/,
  /(?:FileNotFoundException|NoSuchFileException): ([^\n(]{1,500}?)(?: \(|$)/m,
  /Could not find (?:file|a part of the path) '([^'\n]{1,500})'/,
  /(?:open|stat|read|chdir|lstat|exec) (\S{1,500}): no such file or directory/,
  /(?:cannot|can't) (?:open|create|cd to) '?([^\s:']{1,500})'?: No such file/i,
  /open(?:\(\))? (?:\w{1,20} ){0,3}["']([^"'\n]{1,500})["'][^\n]{0,20}No such file/,
  /(?:^|: )([^\s:]{1,500}): No such file or directory/m,
  /No such file or directory|ENOENT|kind: NotFound|The system cannot find the file/,
];

const missingFile: Rule = ({ text, place }) => {
  const name = firstMatch(text, FILES);
  if (name === null) return null;
  return name === ''
    ? `a file that it needs is not there${place('needed in')}`
    : `the file ${name} is not there${place('needed in')}`;
};

const missingSetting: Rule = ({ text, place }) => {
  const [, model, name] = /validation errors? for (\w{1,100})\n(\S{1,100})\n\s*Field required/.exec(text) ?? [];
  return name === undefined ? null : `${model} needs ${name}, which is not given${place('read in')}`;
};

// The network: ports, peers that do not answer, names, certificates, time.

const IN_USE =
  /EADDRINUSE|[Aa]ddress already in use|[Pp]ort \d{1,5} (?:is|was) already in use|port is already allocated|Only one usage of each socket address|WSAEADDRINUSE/;
const PORTS: readonly RegExp[] = [
  /[Pp]ort[ =:]+(\d{1,5})\b/,
  /\('[^']{0,100}', (\d{1,5})\)/,
  /(?:listen tcp\d? |bind\(\) to |bind to |bind on |listening on |EADDRINUSE[^\n]{0,40}? |address |for )[^\s,]{0,100}?:(\d{1,5})\b/,
  /https?:\/\/[^\s:/]{1,100}:(\d{1,5})/,
  /(?:\d{1,3}(?:\.\d{1,3}){3}|\[::1?\]|:::?1?|localhost|\*):(\d{1,5})\b/,
  /\bport (\d{1,5})\b/i,
];

const portInUse: Rule = ({ text, context }) => {
  if (!IN_USE.test(text)) return null;
  const port = firstMatch(text, PORTS);
  if (port === null) return 'the address it wants to listen on is in use by another process';
  const holder = context.portHolder?.(Number(port)) ?? null;
  return holder === null
    ? `port ${port} is in use by another process: stop that, or choose another port`
    : `port ${port} is in use by ${holder}: stop that, or choose another port`;
};

const PRIVILEGED =
  /(?:listen|bind)[^\n]{0,120}(?:EACCES|permission denied)|(?:EACCES|Permission denied)[^\n]{0,60}(?:bind|listen|:\d{1,3}\b)/i;

const privilegedPort: Rule = ({ text }) => {
  const port = PRIVILEGED.test(text) ? firstMatch(text, PORTS) : null;
  if (port === null || Number(port) >= 1024) return null;
  return `it may not listen on port ${port}: ports below 1024 need root or CAP_NET_BIND_SERVICE`;
};

const REFUSED = /ECONNREFUSED|[Cc]onnection refused|actively refused|ConnectionRefused/;
const TARGETS: readonly RegExp[] = [
  /ECONNREFUSED (\S{1,100}:\d{1,5})\b/,
  /dial (?:tcp|udp)\d? (\S{1,100}?:\d{1,5}):/,
  /server at "([^"]{1,100})"[^\n]{0,60}, port (\d{1,5})/,
  /for "([^"]{1,100})" port (\d{1,5})/,
  /Connection to ([^\s:]{1,100}:\d{1,5}) refused/,
  /host='([^']{1,100})', port=(\d{1,5})/,
  /connect(?:ing|ion)? to ([\w.-]{1,100}:\d{1,5})\b/i,
  /\(([\w.-]{1,100}:\d{1,5})\)/,
  /\('([^']{1,100})', (\d{1,5})\)/,
  /\b(localhost:\d{1,5}|\d{1,3}(?:\.\d{1,3}){3}:\d{1,5})\b/,
];

const refused: Rule = ({ text, context, place }) => {
  if (!REFUSED.test(text)) return null;
  const target = targetOf(text);
  if (target === null)
    return `a server that it calls refused the connection${place('called in')}: it is not running, or listens elsewhere`;
  const peer = peerOf(target, context);
  return peer === null
    ? `nothing listens on ${target}${place('called in')}: the server there is not running, or listens elsewhere`
    : `its dependency ${peer} refused the connection (${target})${place('called in')}: it was not running or not ready`;
};

function targetOf(text: string): string | null {
  for (const expression of TARGETS) {
    const [, host, port] = expression.exec(text) ?? [];
    if (host !== undefined) return port === undefined ? host : `${host}:${port}`;
  }
  return null;
}

function peerOf(target: string, { dependencies = [] }: CrashContext): string | null {
  const port = Number(target.slice(target.lastIndexOf(':') + 1));
  return dependencies.find(({ ports }) => ports.includes(port))?.name ?? null;
}

const NAMES: readonly RegExp[] = [
  /(?:ENOTFOUND|EAI_AGAIN) ([\w.-]{1,253})/,
  /lookup ([\w.-]{1,253})(?: on \S{1,100})?: (?:no such host|server misbehaving|Temporary failure)/,
  /UnknownHostException: ([\w.-]{1,253})/,
  /could not translate host name "([^"]{1,253})"/,
  /Failed to resolve '([^']{1,253})'/,
  /host='([^']{1,253})'[^\n]{0,400}(?:Name or service not known|name resolution|nodename nor servname)/,
  /(?:Name or service not known|No such host is known)[^\n]{0,5}\(([\w.-]{1,253})(?::\d{1,5})?\)/,
  /Name or service not known|Temporary failure in name resolution|nodename nor servname|getaddrinfo failed|No such host is known|failed to lookup address information|getaddrinfo: /,
];

const unknownName: Rule = ({ text, place }) => {
  const name = firstMatch(text, NAMES);
  if (name === null) return null;
  const what = name === '' ? 'a host name' : `the host name ${name}`;
  return `${what} could not be resolved${place('called in')}: check its spelling and the DNS of this machine`;
};

const TLS: readonly (readonly [RegExp, string])[] = [
  [
    /certificate has expired|CERT_HAS_EXPIRED|certificate expired|NotAfter/i,
    'the certificate of the server has expired',
  ],
  [
    /self[- ]signed certificate|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT/i,
    'the certificate of the server is not signed by an authority that this machine trusts (self-signed)',
  ],
  [
    /ERR_TLS_CERT_ALTNAME_INVALID|Hostname mismatch|doesn't match|certificate is valid for .{1,200}, not |RemoteCertificateNameMismatch/,
    'the certificate of the server is for another host name',
  ],
  [
    /CERTIFICATE_VERIFY_FAILED|unable to verify the first certificate|UNABLE_TO_VERIFY_LEAF|unable to get local issuer|PKIX path building failed|signed by unknown authority|RemoteCertificate(?:ChainErrors|NotAvailable)|certificate verify failed|remote certificate is invalid/i,
    'the certificate of the server is not signed by an authority that this machine trusts',
  ],
  [
    /WRONG_VERSION_NUMBER|wrong version number|first record does not look like a TLS handshake|EPROTO|Unsupported or unrecognized SSL message/,
    'the server does not speak TLS on that port',
  ],
  [
    /SSLHandshakeException|SSLError|tls: |SSL routines|handshake failure/,
    'the encrypted connection (TLS) could not be set up',
  ],
];

const tls: Rule = ({ text, place }) => {
  const found = TLS.find(([expression]) => expression.test(text));
  return found ? `${found[1]}${place('called in')}` : null;
};

const LOGIN =
  /password authentication failed for user "?([\w.@-]{1,100})|Access denied for user '([^']{1,100})'|(?:invalid|incorrect) (?:api key|x-api-key|credentials|username or password)|\b401 (?:Client Error: )?Unauthorized|NOAUTH Authentication required|WRONGPASS|authentication_error|InvalidAccessKeyId|Authentication failed/i;

const login: Rule = ({ text, place }) => {
  const found = LOGIN.exec(text);
  if (!found) return null;
  const user = found[1] ?? found[2];
  return `the server refused the credentials${user === undefined ? '' : ` of user ${user}`}${place('called in')}: check the password, key or token`;
};

const LATE =
  /ETIMEDOUT|ESOCKETTIMEDOUT|TimeoutError|TimeoutException|ReadTimeout|ConnectTimeout|context deadline exceeded|i\/o timeout|[Tt]imed out|Net::(?:Open|Read)Timeout|DeadlineExceeded|UND_ERR_(?:CONNECT|HEADERS)_TIMEOUT/;

const late: Rule = ({ text, place, context }) => {
  if (!LATE.test(text)) return null;
  const target = targetOf(text);
  const peer = target === null ? null : peerOf(target, context);
  const whom = peer !== null ? `its dependency ${peer} (${target})` : (target ?? 'something that it waited for');
  return `${whom} did not answer in time${place('in')}`;
};

// Mistakes in the program itself that have a name.

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

/** In the order in which they are asked: the first that knows the symptoms says what it was. */
export const RULES: readonly Rule[] = [
  ...[missingSetting, missingExport, missingModule, missingVariable, missingCommand],
  ...[noSpace, noMemory, tooManyFiles, wrongBinary],
  ...[portInUse, privilegedPort, tls, unknownName, refused, login],
  notAllowed, // after the network: a port below 1024 is denied too
  missingFile, // late: "no such file" is also how sockets and programs are missed
  ...[sent, recursion, nothingThere, named, syntax],
  late, // last: what timed out is often told better by something else
];
