/** Finds the errors in the last output of a program, and reads one of them: of a chain of errors the innermost. */

import type { CrashContext, CrashFrame, FoundCrash, Language, ParsedCrash, Parser, RawFrame, Thrown } from './crash.ts';
import { beside, firstLine, shownPath } from './normalise.ts';
import { parseDotnet } from './parsers/dotnet.ts';
import { parseGo } from './parsers/go.ts';
import { parseJvm } from './parsers/jvm.ts';
import { parseNative } from './parsers/native.ts';
import { parseNode } from './parsers/node.ts';
import { parsePerl } from './parsers/perl.ts';
import { parsePhp } from './parsers/php.ts';
import { parsePython, parsePythonTools } from './parsers/python.ts';
import { parseRuby } from './parsers/ruby.ts';
import { parseRust } from './parsers/rust.ts';
import { parseShell } from './parsers/shell.ts';
import { parseTap } from './parsers/tap.ts';
import { rootCauseOf } from './root-cause.ts';

const MAX_STACK_LINES = 60;
const MAX_FRAMES = 50;
const MAX_FILES = 10;
const MAX_MESSAGE_CHARS = 1_000;

const PARSERS: readonly Parser[] = [
  ...[parsePython, parseNode, parseGo, parseJvm, parseRust, parseRuby, parseDotnet],
  ...[parsePhp, parsePerl, parseNative, parsePythonTools, parseTap],
];

/** Every error in these lines, whether the program died of it or not. */
export const errorsIn = (texts: readonly string[]): readonly FoundCrash[] => PARSERS.flatMap((parse) => parse(texts));

/** What scripts say when they cannot go on. They say that a command failed after the command has said why. */
export const scriptErrorsIn = (texts: readonly string[]): readonly FoundCrash[] => parseShell(texts);

/** One of them, with its calls, its files and its cause in a sentence. */
export function readCrash(found: FoundCrash, texts: readonly string[], context: CrashContext): ParsedCrash {
  const { language, chain } = found;
  const cause = chain[0]!;
  const frames = framesOf(chain, language, context);
  const lines = texts.slice(found.first, found.last + 1);
  const crash = {
    language,
    errorType: cause.type,
    message: cause.type === null && cause.message === '' ? null : cause.message.slice(0, MAX_MESSAGE_CHARS),
    frames: frames.slice(0, MAX_FRAMES),
    stack: shortened(lines),
    source: cause.source ?? null,
  };
  const relatedFiles = filesOf(crash.message ?? '', frames, language, context);
  const said = chain.map(({ type, message }) => (type === null ? message : `${type}: ${message}`));
  const rootCause = rootCauseOf({ ...crash, lines, said, aside: whileHandling(found) }, context);
  return { ...crash, relatedFiles, rootCause };
}

const MAX_HANDLED_CHARS = 120;

/** No cause, but often the way to it. */
function whileHandling({ handled }: FoundCrash): string {
  if (handled === undefined || handled.type === null) return '';
  const words = firstLine(handled.message).slice(0, MAX_HANDLED_CHARS);
  return `; raised while it handled ${handled.type}${words === '' ? '' : `: ${words}`}`;
}

const NOWHERE = { function: null, line: null, column: null } as const;

function filesOf(
  message: string,
  frames: readonly CrashFrame[],
  language: Language,
  { cwd }: CrashContext,
): readonly string[] {
  const own = frames.flatMap(({ inApp, file }) => (inApp && file !== null ? [file] : []));
  const named = fileIn(message.split('\n', 1)[0]!, own[0]);
  const first = named !== null && isInApp({ ...NOWHERE, file: named }, language) ? [shownPath(named, cwd)] : [];
  return [...new Set([...first, ...own])].slice(0, MAX_FILES);
}

/** The file that has to be changed when an export or a module is missing: the last one named, or the module beside the importer. */
function fileIn(message: string, importer: string | undefined): string | null {
  const [, file] = /(?:\(| imported from )([^()\s]+\.\w{1,5})\)?$/.exec(message) ?? [];
  if (file !== undefined) return file;
  const [, module] = /requested module '(\.{1,2}\/[^']+)' does not provide/.exec(message) ?? [];
  return module === undefined || importer === undefined ? null : beside(importer, module);
}

/** Those of the cause, and when all of them are in libraries, those of what it led to. */
function framesOf(chain: readonly Thrown[], language: Language, { cwd }: CrashContext): readonly CrashFrame[] {
  const frames: CrashFrame[] = [];
  for (const { frames: raw } of chain) {
    for (const one of raw) {
      const file = one.file === null ? null : shownPath(one.file, cwd);
      frames.push({ ...one, file, inApp: isInApp(one, language) });
    }
    if (frames.some(({ inApp }) => inApp)) break;
  }
  return frames;
}

/** The beginning names the error in most languages, the end in the others. */
function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_STACK_LINES) return lines;
  const half = MAX_STACK_LINES / 2;
  return [...lines.slice(0, half), `… ${lines.length - 2 * half} lines left out …`, ...lines.slice(-half)];
}

// Whether a call is in the component's own code, or in a library or the language itself.

/** Folders in which package managers and languages keep what others wrote. */
const LIBRARY_FILE =
  /(?:^|\/)(?:site-packages|dist-packages|node_modules|bower_components|gems|vendor|\.pnpm|\.yarn)\/|\/(?:usr|opt|pyenv|\.pyenv|conda|miniconda3|anaconda3)(?:\/[^/]+){0,4}\/lib\/(?:python|ruby)|\/lib\/(?:python\d|ruby\/)|\/\.?(?:rbenv|rvm|asdf)\/|^<frozen |^<internal:|^<__array_function__|^<attrs generated|^node:|^internal\/|^webpack\/|^\/rustc\/|\/\.cargo\/(?:registry|git)\/|\/\.rustup\/|^library\/(?:std|core|alloc)\/|^\/?(?:usr\/local|usr\/lib|opt\/hostedtoolcache|snap)\/go\b|^\/usr\/(?:share|lib|local\/share|local\/lib)(?:\/[\w.-]+){0,3}\/(?:perl\d?|php)\b|^\.\.\/(?:sysdeps|csu|nptl|stdlib)\/|\/libsanitizer\/|\/go\/pkg\/mod\/|\/go[\d.-]*\/src\/(?:runtime|net|os|sync|internal|testing|syscall|reflect)\/|@v\d+\.\d+\.\d+/;

const LIBRARY_FUNCTION: Readonly<Record<Language, RegExp | null>> = {
  python: null,
  node: /^(?:node:|Module\._|Module\.load|Function\.Module|Object\.Module|internal\/)/,
  go: /^(?:runtime|panic$|sync|net|os|io|syscall|reflect|internal|testing|encoding|fmt|strings|strconv|bufio|bytes|context|database|crypto|time|sort|log|errors|path|regexp|html|text|math|unicode|slices|maps|iter|golang\.org\/x|google\.golang\.org)(?:[./(]|$)/,
  jvm: /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure|akka|reactor|android|androidx|dalvik|org\.(?:springframework|apache|hibernate|eclipse|slf4j|junit|postgresql|jboss|gradle|codehaus|mariadb|glassfish|aspectj|jetbrains|xnio|flywaydb|quartz)|io\.(?:netty|grpc|quarkus|micronaut|micrometer|vertx|undertow|lettuce|reactivex|projectreactor|r2dbc|ktor)|com\.(?:zaxxer|fasterxml|mysql|google|amazonaws|rabbitmq|mongodb|squareup|datastax|oracle|microsoft\.sqlserver|intellij)|ch\.qos|redis\.clients|okhttp3|retrofit2|net\.(?:bytebuddy|sf)|software\.amazon)\./,
  rust: /^(?:<?(?:std|core|alloc|tokio|futures|futures_util|rayon_core|rayon|hyper|actix_rt|anyhow|backtrace|tracing|test)(?:::|\[)|<(?:alloc|core|std|tokio|F as core|T as core)\b|rust_begin_unwind|rust_panic|__rust|_?start$|_start|main$|__libc|clone\d*$|start_thread|__GI_|_rjem_|<unknown>)/,
  ruby: /^(?:ENV|Kernel|Array|Hash|Integer|String|Enumerable|Enumerator|Proc|Symbol|IO|File|Dir|Socket|TCPSocket|Struct|Thread|Class|Module|BasicObject)[.#]/,
  dotnet:
    /^(?:System|Microsoft|Newtonsoft|Npgsql|MySql|MySqlConnector|StackExchange|Grpc|Serilog|NLog|AutoMapper|MediatR|Polly|Dapper|Quartz|MassTransit|Hangfire|Castle|Autofac|RabbitMQ|Confluent|Azure|Amazon|MongoDB|Interop)\./,
  php: null,
  perl: null,
  native: /^(?:__|_start$|std::|abort$|raise$|malloc|free$|operator new)/,
  shell: null,
};

/** Names that stand for no file: built-in functions and native code. */
const NO_FILE = /^(?:<anonymous>|native|\[native code\])$/;

export function isInApp(frame: RawFrame, language: Language): boolean {
  const { file, function: name } = frame;
  if (name !== null && LIBRARY_FUNCTION[language]?.test(name)) return false;
  if (file === null) return name !== null && (language === 'jvm' || language === 'dotnet' || language === 'rust');
  return !NO_FILE.test(file) && !LIBRARY_FILE.test(file.replaceAll('\\', '/'));
}
