/** Brings what a container on Kubernetes writes into the component's log, every line once, also over cut connections and other daemons. */

import { after } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { LogFile } from '../../drivers/container/log-file.ts';
import { type Client, Lines } from '../client/client.ts';
import { NewLines, type Written } from '../rules/log-lines.ts';
import type { Life } from '../rules/pods.ts';

export interface PumpOptions extends Pick<Runtime, 'clock' | 'log'> {
  readonly client: Client;
  readonly namespace: string;
  readonly life: Life;
  readonly path: string;
  readonly written: Written | null;
  /** It has come so far: to be remembered. */
  progress(written: Written): void;
}

/** The last output of a death: more is not needed to understand it. */
const TAIL_LINES = 2_000;
const MAX_LINE_BYTES = 1024 * 1024;
const AGAIN_MS = 2_000;
const REMEMBER_MS = 1_000;
/** At the end of a run its log is asked for so often before it counts as lost. */
const TRIES = 3;

export class LogPump {
  readonly #options: PumpOptions;
  readonly #ending = new AbortController();
  readonly #file: LogFile;
  readonly #lines: NewLines;
  #following: Promise<void> | null = null;
  #rememberedAt = 0;

  constructor(options: PumpOptions) {
    this.#options = options;
    const { path, clock, log } = options;
    this.#file = new LogFile({ path, clock, log, signal: this.#ending.signal, written: () => {} });
    this.#lines = new NewLines(options.written);
  }

  /** Follows it until it ends, or until `finish`. */
  begin(): void {
    this.#following ??= this.#follow();
  }

  /** All that it wrote last; `lastWords` where its log is not kept any more. False: the log is lost. */
  async finish(which: 'current' | 'previous' | null, lastWords: string): Promise<boolean> {
    this.#ending.abort();
    await this.#following;
    const { path, clock, log } = this.#options;
    const closing = new AbortController();
    const file = new LogFile({ path, clock, log, signal: closing.signal, written: () => {} });
    const text = which === null ? null : await this.#rest(which, closing.signal);
    const fresh = text === null ? linesOf(lastWords) : this.#newIn(text);
    if (fresh.length > 0) await file.add(Buffer.from(fresh.map((line) => `${line}\n`).join('')));
    await file.close();
    this.#remember(true);
    return text !== null;
  }

  /** Whatever comes later is for the next daemon. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#following;
    this.#remember(true);
    await this.#file.close();
  }

  #newIn(text: string): readonly string[] {
    this.#lines.begin();
    return linesOf(text).flatMap((line) => this.#lines.take(line) ?? []);
  }

  async #rest(which: 'current' | 'previous', signal: AbortSignal): Promise<string | null> {
    const { client, clock, log } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        return await client.log({ ...this.#query(), previous: which === 'previous', tail: TAIL_LINES }, signal);
      } catch (error) {
        if (tries === TRIES) {
          log.warn('the log of an end on Kubernetes could not be read', { error: String(error) });
          return null;
        }
        await clock.sleepUntil(after(clock.now(), AGAIN_MS), signal).catch(() => {});
      }
    }
  }

  #query() {
    const { namespace, life } = this.#options;
    const { pod, container } = life;
    return { namespace, pod, container, timestamps: true, since: this.#lines.written?.stamp ?? null };
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending;
    const { client, clock } = this.#options;
    while (!signal.aborted) {
      this.#lines.begin();
      const lines = new Lines((line) => {
        const text = this.#lines.take(line);
        if (text !== null) void this.#file.add(Buffer.from(`${text}\n`));
      }, MAX_LINE_BYTES);
      try {
        await client.follow(
          this.#query(),
          async (piece) => {
            lines.add(piece);
            await this.#file.flushed();
            this.#remember(false);
          },
          signal,
        );
      } catch {
        // cut off, or the kubelet does not answer: its end, if that is what it was, is told by the pod
      }
      await clock.sleepUntil(after(clock.now(), AGAIN_MS), signal).catch(() => {});
    }
  }

  #remember(isLast: boolean): void {
    const { written } = this.#lines;
    const now = this.#options.clock.now();
    if (written === null || (!isLast && now - this.#rememberedAt < REMEMBER_MS)) return;
    this.#rememberedAt = now;
    this.#options.progress(written);
  }
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
