/** One call of the CLI: where it was called, what the global options say, and where its words go. */

import { basename, dirname } from 'node:path';
import type { Address, Way } from '../api/client/call.ts';
import { type Client, createClient } from '../api/client/client.ts';
import { daemonSocket, findProject, type Project } from '../base/home.ts';
import { AppError } from '../base/pure/errors.ts';
import { type Paint, paintFor } from './print/colour.ts';
import { jsonDocument, jsonLine } from './print/json.ts';
import { sanitiseText } from './print/sanitise.ts';

export interface Terminal {
  write(text: string): void;
  readonly isTty: boolean;
  /** Read anew each time: windows change their size. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
}

/** The world around the CLI, handed in by main.ts, so that nothing else touches `process`. */
export interface World {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  /** The file that was started; `up` starts the daemon with the same one. */
  readonly entry: string;
  readonly version: string;
  /** The version of Node. */
  readonly node: string;
  /** The program of Node, absolute. */
  readonly execPath: string;
  /** "linux" */
  readonly platform: string;
  readonly out: Terminal;
  readonly err: Terminal;
  /** Somebody types: stdin is a terminal. */
  readonly inIsTty: boolean;
  /** From the first call on, Ctrl-C and SIGTERM abort the signal instead of ending the process. */
  interrupt(): AbortSignal;
  /** From the first call on, a second Ctrl-C aborts this signal, and only a third one ends the process. */
  interruptAgain(): AbortSignal;
}

export interface GlobalOptions {
  /** Another machine, by its address or by its name in the user's list; null: this one. */
  readonly host: string | null;
  readonly files: readonly string[];
  readonly json: boolean;
  readonly colour: boolean;
}

export class CliCall {
  readonly world: World;
  readonly json: boolean;
  /** The -f options, as given. */
  readonly files: readonly string[];
  /** Colours for stdout and for stderr. */
  readonly paint: Paint;
  readonly colour: boolean;
  readonly errPaint: Paint;
  /** Where the daemon is that is meant; null: on this machine. */
  readonly host: string | null;
  #project: Project | undefined;
  #way: Promise<Way> | undefined;

  constructor(world: World, { host, files, json, colour }: GlobalOptions) {
    if (host !== null && files.length > 0)
      throw usage(
        `-f names a file on this machine, and ${host} is another one. Put the folder into the address: ssh://user@host/path/to/project.`,
      );
    this.host = host;
    this.world = world;
    this.json = json;
    this.colour = colour;
    this.paint = paintFor(world.out, world.env, colour);
    this.errPaint = paintFor(world.err, world.env, colour);
    this.files = files;
  }

  get signal(): AbortSignal {
    return this.world.interrupt();
  }

  get project(): Project {
    const { cwd, env } = this.world;
    if (this.#project === undefined) {
      this.#project = findProject({ cwd, env, files: this.files });
      this.#noteIgnored(this.#project);
    }
    return this.#project;
  }

  /** Two configurations in one folder: whoever edits the other one must know. */
  #noteIgnored({ files, ignored = [] }: Project): void {
    if (ignored.length === 0) return;
    const names = [...files, ...ignored].map((file) => basename(file));
    this.note(
      `warning: there are ${names.join(' and ')} in ${dirname(files[0]!)}; only ${names[0]} is used. Remove one, or name it: keepwell -f ${names[1]}`,
    );
  }

  /** Made anew for each use: a daemon that was started meanwhile may listen elsewhere. */
  get client(): Client {
    return createClient(this.address, this.signal);
  }

  /** Where the daemon is asked. */
  get address(): Address {
    const { host, world } = this;
    const { env, uid } = world;
    if (host === null) return daemonSocket(this.project.home, env, uid);
    this.#way ??= import('../fleet/open.ts').then(({ openWay }) => openWay(host, { env, uid }));
    const way = this.#way;
    return () => way;
  }

  /** The same call, about another machine. */
  on(host: string): CliCall {
    const { world, json, files, colour } = this;
    return new CliCall(world, { host, files, json, colour });
  }

  /** How wide tables may be; undefined in a pipe, where nothing is cut. */
  get columns(): number | undefined {
    const { out } = this.world;
    return out.isTty ? out.columns : undefined;
  }

  /** Lines for people on stdout. With `-o json` there is nothing but JSON there, so this stays silent. */
  print(...lines: readonly string[]): void {
    if (!this.json) for (const line of lines) this.world.out.write(`${line}\n`);
  }

  /** The one document of `-o json`. */
  printJson(value: unknown): void {
    if (this.json) this.world.out.write(jsonDocument(value));
  }

  /** One line of a stream. */
  printJsonLine(value: unknown): void {
    if (this.json) this.world.out.write(jsonLine(value));
  }

  /** Progress and remarks, on stderr in every mode. */
  note(text: string): void {
    this.world.err.write(`${sanitiseText(text)}\n`);
  }
}

export const usage = (problem: string): AppError => new AppError('USAGE', { problem });
