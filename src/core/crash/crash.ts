/** What a crash looks like once its text is understood, whatever language wrote it. */
import type { ExitView } from '../exit.ts';

export type Language = 'python' | 'node' | 'go' | 'jvm' | 'rust' | 'ruby' | 'dotnet' | 'shell';

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
}

/** A crash somewhere in a tail. */
export interface Found {
  readonly language: Language;
  /** The lines it takes, both included. */
  readonly first: number;
  readonly last: number;
  /** The innermost cause first, then what it led to. Never empty. */
  readonly chain: readonly Thrown[];
  /** The program itself says that it went on after it. */
  readonly survived?: boolean;
}

export type Parser = (lines: readonly string[]) => readonly Found[];

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
}
