/** What a crash looks like once its text is understood, whatever language wrote it. */
import type { ExitView } from '../../base/pure/exit.ts';

export type Language =
  | 'python'
  | 'node'
  | 'go'
  | 'jvm'
  | 'rust'
  | 'ruby'
  | 'dotnet'
  | 'php'
  | 'perl'
  /** C and C++, and what their libraries and sanitizers write. */
  | 'native'
  | 'shell';

/** One call, as the text names it. */
export interface RawFrame {
  readonly function: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
}

export interface CrashFrame extends RawFrame {
  /** Code of the component itself, not of a library or of the language. */
  readonly inApp: boolean;
}

/** One error of a chain. */
export interface Thrown {
  /** Null: the tail begins after the line that named it. */
  readonly type: string | null;
  readonly message: string;
  /** Nearest to the error first. */
  readonly frames: readonly RawFrame[];
  /** The line of code it comes from, as the runtime shows it. */
  readonly source?: string;
}

/** A crash somewhere in a tail. */
export interface FoundCrash {
  readonly language: Language;
  /** The lines it takes, both included. */
  readonly first: number;
  readonly last: number;
  /** The fault first: the innermost cause, or the last one raised when another was being handled. Then what it led to. Never empty. */
  readonly chain: readonly Thrown[];
  /** The error that was being handled when the first of the chain was raised. */
  readonly handled?: Thrown;
  /** The program itself says that it went on after it: in a thread, in a request, while it cleaned up. */
  readonly survived?: boolean;
  /** Written by the runtime when it gives up, never by a logger: other threads may still write after it. */
  readonly uncaught?: boolean;
  /** How it ends a program, when that is not what its language does otherwise. */
  readonly ends?: { readonly codes: readonly number[]; readonly signals: readonly string[] };
}

export type Parser = (lines: readonly string[]) => readonly FoundCrash[];

export interface ParsedCrash {
  readonly language: Language;
  readonly errorType: string | null;
  readonly message: string | null;
  /** Nearest to the error first. */
  readonly frames: readonly CrashFrame[];
  /** Its lines, without colours and log prefixes. */
  readonly stack: readonly string[];
  /** Files of the component itself, nearest to the error first. */
  readonly relatedFiles: readonly string[];
  /** The line of code that the error comes from; null: not shown. */
  readonly source: string | null;
  /** One sentence. */
  readonly rootCause: string;
}

/** Someone a component talks to, and the ports by which it is known. */
export interface KnownPeer {
  readonly name: string;
  readonly ports: readonly number[];
}

/** What is known besides the text. All of it may be missing. */
export interface CrashContext {
  /** Whose crash it is: "component api". Ends that say nothing are the same only when they are of the same one. */
  readonly whose?: string;
  /** Where the component runs: its files are named relative to it. */
  readonly cwd?: string;
  readonly exit?: ExitView;
  /** Whom it may have called. */
  readonly dependencies?: readonly KnownPeer[];
  /** Who holds a port: "nginx (pid 812)"; null: not known. */
  readonly portHolder?: (port: number) => string | null;
  /** How long before the end a line of the log was written, counted from the last one (0); null: not known. */
  readonly ageMs?: (linesFromEnd: number) => number | null;
}
