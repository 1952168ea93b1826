/** Holds the Lease of the project for as long as it can, and says who does when it is somebody else: only the holder touches anything on the cluster. */

import { after } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { ApiError } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import { holderOf, LAST_HOLDER, leaseWritten, mayTake, type StoredLease, watchedUntil } from '../rules/lease.ts';
import { LABELS, MANAGER } from '../rules/object.ts';

export interface LeadershipOptions extends Pick<Runtime, 'clock' | 'log'> {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** As a label. */
  readonly project: string;
  /** Who we are: the same for a daemon that comes back to the same state directory, and for nobody else. */
  readonly me: string;
}

/** A time in which it is ours. */
export interface Term {
  /** Aborts when it is over. */
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 2_000;
const RENEW_EVERY_MS = 3_000;
const ANSWER_WITHIN_MS = 3_000;
/** Without a renewal for so long, nothing more is done: well before anybody else may take it. */
const GIVE_UP_MS = 10_000;

export class Leadership {
  readonly #options: LeadershipOptions;
  #lease: StoredLease | null = null;
  #isHeld = false;
  #holder: string | null = null;
  #why = 'the Lease of the project has not been asked for yet';
  #watchedUntil: number | null = null;
  #isRemoved = false;
  readonly #waiting = new Set<() => void>();

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }
  /** Who holds it instead of us; null: we do, or it is not known who does. */
  get holder(): string | null {
    return this.#holder;
  }
  /** Why it is not held, as a sentence without its end. */
  get why(): string {
    return this.#why;
  }
  /** Until when another one watched before us, epoch milliseconds; null: none did. */
  get watchedUntil(): number | null {
    return this.#watchedUntil;
  }

  /** Resolves when it is ours. Rejects when `signal` aborts. */
  async untilHeld(signal: AbortSignal): Promise<void> {
    while (!this.#isHeld) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiting.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#waiting.add(done);
        signal.addEventListener('abort', done, { once: true });
      });
    }
  }

  /** Takes it, holds it, and waits for it again when it was lost. Resolves when `closing` aborts; never rejects. */
  async run(told: { began(term: Term): Promise<void>; waits(why: string): void }, closing: AbortSignal): Promise<void> {
    while (!closing.aborted && !this.#isRemoved) {
      try {
        const askedAt = await this.#acquire(told.waits, closing);
        await this.#hold(askedAt, told.began, closing);
      } catch {
        // closing: everything else is caught where it happens
      }
    }
    await this.#giveBack();
  }

  /** Everything goes, so it does too. */
  async remove(signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    if (!this.#isHeld) return;
    this.#isRemoved = true;
    await client.remove('Lease', namespace, name, signal);
  }

  /** When it was asked for what was granted. */
  async #acquire(waits: (why: string) => void, closing: AbortSignal): Promise<number> {
    const { clock, log, me } = this.#options;
    let seen = { version: '', at: clock.now() };
    for (;;) {
      const askedAt = clock.now();
      try {
        this.#lease = await this.#read(closing);
        const version = this.#lease?.metadata.resourceVersion ?? '';
        if (version !== seen.version) seen = { version, at: askedAt };
        if (mayTake(this.#lease, me, clock.now() - seen.at)) {
          const before = { holder: holderOf(this.#lease), until: watchedUntil(this.#lease, me) } as const;
          await this.#write(me, closing);
          if (before.holder !== null && before.holder !== me)
            log.warn('took over: whoever ran the project on Kubernetes has fallen silent', { holder: before.holder });
          [this.#isHeld, this.#holder, this.#watchedUntil] = [true, null, before.until];
          this.#why = 'the Lease of the project was lost';
          for (const each of [...this.#waiting]) each();
          return askedAt;
        }
        this.#waits(holderOf(this.#lease), waits);
      } catch (error) {
        closing.throwIfAborted();
        if (!isRace(error)) this.#cannot(error, waits);
      }
      await clock.sleepUntil(after(clock.now(), LOOK_EVERY_MS), closing);
    }
  }

  #waits(holder: string | null, waits: (why: string) => void): void {
    const why = `another Keepwell, ${holder}, runs this project on the cluster; this one takes over when it falls silent`;
    if (this.#why !== why) waits(why);
    [this.#holder, this.#why] = [holder, why];
  }

  #cannot(error: unknown, waits: (why: string) => void): void {
    const { namespace, name } = this.#options;
    const isForbidden = error instanceof ApiError && error.status === 403;
    const advice = isForbidden ? ' ("keepwell render --self IMAGE" has the rights that are needed)' : '';
    const why = `the Lease ${namespace}/${name}, which says who runs the project, cannot be used: ${(error as Error).message}${advice}`;
    if (this.#why !== why) waits(why);
    [this.#holder, this.#why] = [null, why];
  }

  async #hold(since: number, began: (term: Term) => Promise<void>, closing: AbortSignal): Promise<void> {
    const { clock, log, me } = this.#options;
    const term = new AbortController();
    const end = () => term.abort();
    closing.addEventListener('abort', end, { once: true });
    const work = began({ signal: term.signal });
    let renewedAt = since;
    try {
      while (!closing.aborted) {
        await clock.sleepUntil(after(clock.now(), RENEW_EVERY_MS), closing);
        if (this.#isRemoved) return;
        const askedAt = clock.now();
        try {
          await this.#write(me, closing);
          renewedAt = askedAt;
        } catch (error) {
          if (closing.aborted) return;
          const other = isRace(error) ? await this.#takenBy(closing) : null;
          if (other === null && clock.now() - renewedAt < GIVE_UP_MS) continue;
          log.warn('the Lease of the project is lost; nothing more is done on Kubernetes until it is ours again', {
            ...{ holder: other, why: (error as Error).message },
          });
          this.#why = `the Lease of the project was lost: ${(error as Error).message}`;
          return;
        }
      }
    } finally {
      closing.removeEventListener('abort', end);
      if (!closing.aborted) this.#isHeld = false;
      term.abort();
      await work;
    }
  }

  /** Somebody wrote it: reads what they wrote. Null: it is still ours, or it cannot be told. */
  async #takenBy(signal: AbortSignal): Promise<string | null> {
    try {
      this.#lease = await this.#read(signal);
      const holder = holderOf(this.#lease);
      return holder === this.#options.me ? null : (holder ?? 'nobody');
    } catch {
      return null;
    }
  }

  /** Whoever waits need not wait for our silence. */
  async #giveBack(): Promise<void> {
    if (!this.#isHeld || this.#isRemoved) return;
    this.#isHeld = false;
    try {
      await this.#write(null, AbortSignal.timeout(ANSWER_WITHIN_MS));
    } catch (error) {
      this.#options.log.warn('the Lease could not be given back; it runs out by itself', { error: String(error) });
    }
  }

  #read(signal: AbortSignal): Promise<StoredLease | null> {
    const { client, namespace, name } = this.#options;
    return client.get<StoredLease>('Lease', namespace, name, signal, ANSWER_WITHIN_MS);
  }

  async #write(holder: string | null, signal: AbortSignal): Promise<void> {
    const { client, namespace, name, project, me, clock } = this.#options;
    const old = this.#lease;
    const metadata = {
      ...{ name, namespace },
      labels: { ...old?.metadata.labels, [LABELS.project]: project, [LABELS.manager]: MANAGER },
      annotations: { ...old?.metadata.annotations, [LAST_HOLDER]: me },
      ...(old?.metadata.resourceVersion ? { resourceVersion: old.metadata.resourceVersion } : {}),
    };
    const spec = leaseWritten(old, { me: holder, wallNow: clock.wallNow() });
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec } as const;
    this.#lease = await client.put<StoredLease>(lease, { isNew: old === null }, signal, ANSWER_WITHIN_MS);
  }
}

/** Somebody else wrote it, made it or removed it between our reading and our writing. */
const isRace = (error: unknown): boolean => error instanceof ApiError && (error.status === 409 || error.status === 404);
