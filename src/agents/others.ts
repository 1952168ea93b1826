/**
 * Agents that others start: read from their state file, looked at by pid and start time, told of when they die, brought back where a
 * type of the same name is configured, and removed from the file when they are dead. What cannot be known is said, and nothing is done.
 */
import { basename } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import type { RunId } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Store } from '../history/ports.ts';
import type { LoopLogs, OthersCases } from './others-cases.ts';
import type { OthersFindings, PassPart } from './ports.ts';
import { type Entry, readEntries, withoutMembers } from './rules/others-entry.ts';
import {
  isForgotten,
  type Judged,
  type Memory,
  NOTHING_KNOWN,
  type ObservedEntry,
  type ProcessObservation,
  pass,
  type RunFate,
  readStored,
  type Stored,
  stillZombies,
  storedText,
  withTold,
  withZombies,
} from './rules/others-pass.ts';
import {
  agentView,
  cameBack,
  countDead,
  describeForgotten,
  issueOf,
  type LoopOutput,
  leftZombieIssue,
  notCleaned,
  notUnderstood,
  openIssues,
  wereForgotten,
} from './rules/others-report.ts';
import { type AgentsSpec, NO_AGENTS, type StateFileSpec } from './spec.ts';
import { type Rewritten, readStateFile, rewriteStateFile } from './state-file.ts';

export interface OthersParts extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Pick<Store, 'meta' | 'setMeta'>;
  readonly cases: OthersCases;
  readonly logs: LoopLogs;
  observe(pid: number): ProcessObservation;
  fate(run: RunId): RunFate;
  /** Why pids of the file mean nothing here: whoever writes it runs in a container; null: they mean what they say. */
  strange(spec: AgentsSpec): string | null;
}

const META = 'agents.others';
/** Of the time from one pass to the next: that long, the entry of one that crashed is left to its owner. */
const GRACE_SHARE = 1 / 3;
/** The same for entries that only need to be removed; short of a whole one by what a timer may be early. */
const TIDY_SHARE = 0.9;
/** A writer that does not write by rename leaves half a file for a moment. */
const SETTLE_MS = 100;
/** Looks at processes between two turns of the event loop. */
const LOOKS_AT_ONCE = 200;
/** Entries that came back after they had been removed. */
const MAX_REMEMBERED = 10_000;

const NOTHING: OthersFindings = { agents: [], zombies: 0, issues: [], actions: [], bugs: [] };

export class Others implements PassPart<OthersFindings> {
  readonly #parts: OthersParts;
  #spec: AgentsSpec = NO_AGENTS;
  #memory: Memory = NOTHING_KNOWN;
  /** Ids of entries that were removed: whoever writes them again keeps them, and there is no point in a quarrel. */
  readonly #removed = new Set<string>();
  #written: string | null = null;
  /** Where the logs ended into which agents write, at the last look. */
  #logEnds: ReadonlyMap<string, number> = new Map();
  /** What was written when an agent died, until that is told; by key of its entry. */
  readonly #outputs = new Map<string, LoopOutput>();
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: OthersParts) {
    this.#parts = parts;
  }

  use(spec: AgentsSpec): void {
    const before = this.#spec.stateFile;
    this.#spec = spec;
    if (JSON.stringify(before) === JSON.stringify(spec.stateFile)) return;
    this.#memory = NOTHING_KNOWN;
    this.#removed.clear();
    if (spec.stateFile) this.#recall(spec.stateFile);
  }

  /** One at a time. Never rejects. */
  look(): Promise<OthersFindings> {
    const mine = this.#last.then(() => this.#look());
    this.#last = mine.catch(() => {});
    return mine.catch((error: unknown) => {
      this.#parts.log.error('agents started by other programs could not be checked', { error: String(error) });
      const issue = issueOf(
        'state_file',
        null,
        `agents started by other programs could not be checked: ${String(error)}`,
        'none',
      );
      return { ...NOTHING, issues: [issue] };
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
  }

  async #look(): Promise<OthersFindings> {
    const { stateFile } = this.#spec;
    if (stateFile === null || this.#isClosed) return NOTHING;
    const read = await this.#read(stateFile);
    if (read.kind === 'missing') return NOTHING;
    if (read.kind === 'unreadable') return { ...NOTHING, issues: [notUnderstood(stateFile.path, read.why)] };
    const judged = await this.#judge(read.entries);
    const odd =
      read.odd.length === 0 ? [] : [notUnderstood(stateFile.path, `has entries without a pid (${read.odd.length})`)];
    const left = stillZombies(this.#memory, judged, this.#parts.observe);
    this.#memory = { ...this.#memory, zombies: left };
    const done = await this.#act(stateFile, read.text, judged);
    const { cases, clock } = this.#parts;
    const context = { wall: clock.wallNow(), maxRespawns: this.#spec.maxRespawns, assignedTo: cases.assignedTo };
    return {
      agents: judged.filter(({ state }) => isListed(state)).map((each) => agentView(each, context)),
      zombies: judged.filter(({ zombie }) => zombie !== null).length + left.length,
      issues: [...odd, ...openIssues(judged), ...left.map(leftZombieIssue), ...done.issues],
      ...{ actions: done.actions, bugs: done.bugs },
    };
  }

  async #read({ path, fields }: StateFileSpec) {
    const { clock } = this.#parts;
    for (let isAgain = false; ; isAgain = true) {
      const file = await readStateFile(path);
      if (file.kind === 'missing') return file;
      const read = file.kind === 'text' ? readEntries(file.text, fields) : file;
      if (read.kind === 'entries' && file.kind === 'text') return { ...read, text: file.text };
      if (isAgain && read.kind === 'unreadable') return read;
      await clock.sleepUntil((clock.now() + SETTLE_MS) as ReturnType<Clock['now']>, new AbortController().signal);
    }
  }

  async #judge(entries: readonly Entry[]): Promise<readonly Judged[]> {
    const { clock } = this.#parts;
    const why = this.#parts.strange(this.#spec);
    const logEnds = this.#endsOfLogs();
    const looks: ObservedEntry[] = [];
    for (const entry of entries) {
      looks.push({ entry, observation: why === null ? this.#parts.observe(entry.pid) : { kind: 'unknown', why } });
      if (looks.length % LOOKS_AT_ONCE === 0) await nextTurn();
    }
    const { everyMs } = this.#spec;
    const times = { now: clock.now(), wall: clock.wallNow(), boot: clock.bootId };
    const patience = { graceMs: everyMs * GRACE_SHARE, tidyMs: everyMs * TIDY_SHARE };
    const { memory, judged, lived } = pass(this.#memory, looks, { ...times, ...patience, fate: this.#parts.fate });
    this.#memory = memory;
    this.#keepOutput(judged);
    this.#logEnds = logEnds;
    for (const entry of lived) this.#parts.cases.lived(entry);
    this.#remember(this.#spec.stateFile!, []);
    return judged;
  }

  /** Crashes are told first, then the file is cleaned, then the ticket about what was forgotten is filed. */
  async #act(
    file: StateFileSpec,
    text: string,
    judged: readonly Judged[],
  ): Promise<Omit<OthersFindings, 'agents' | 'zombies'>> {
    const { cases } = this.#parts;
    const dead = judged.filter(({ state }) => !isListed(state));
    const kept = dead.filter(({ entry }) => this.#removed.has(entry.id));
    const due = dead.filter(({ entry }) => !this.#removed.has(entry.id));
    const stale = due.filter(isForgotten);
    const living = new Set(judged.flatMap(({ state, entry }) => (isListed(state) ? [entry.task] : [])));
    const crashes = due.filter(({ state }) => state === 'crashed').map((each) => this.#crashed(each, file, living));
    for (const each of due) if (each.state === 'stopped' || each.state === 'finished') this.#ended(each, file);
    const quarrel = kept.length === 0 ? [] : [cameBack(file.path, kept)];
    const issues = [...crashes.map(({ issue }) => issue), ...quarrel];
    const actions = crashes.flatMap(({ action }) => (action === null ? [] : [action]));
    const told = crashes.flatMap(({ bug }) => (bug === null ? [] : [bug]));
    if (due.length === 0) return { issues, actions, bugs: told };
    const cleaned = await this.#clean(file, text, due, stale);
    if (cleaned.kind !== 'done')
      return {
        issues: [
          ...issues,
          notCleaned(
            file.path,
            stale.map(entryOf),
            cleaned.kind === 'refused' ? cleaned.why : 'somebody is writing it',
          ),
        ],
        actions,
        bugs: told,
      };
    const removed = `removed ${countDead(due.length)} from ${basename(file.path)}`;
    if (stale.length === 0) return { issues, actions: [...actions, removed], bugs: told };
    const { ticket } = cases.forgotten(stale.map(describeForgotten), file);
    this.#remember(file, []);
    return {
      issues: [...issues, { ...wereForgotten(stale.map(entryOf), ticket), at: this.#nowIso() }],
      actions: [...actions, removed],
      bugs: ticket === null ? told : [...told, ticket],
    };
  }

  #crashed(dead: Judged, file: StateFileSpec, living: ReadonlySet<string | null>): ReturnType<OthersCases['crashed']> {
    const told = this.#parts.cases.crashed(dead, file, living, this.#outputs.get(dead.entry.key) ?? null);
    this.#outputs.delete(dead.entry.key);
    this.#memory = withTold(this.#memory, dead.entry.key);
    this.#remember(file, []);
    return told;
  }

  #ended({ entry, state }: Judged, file: StateFileSpec): void {
    const { cases } = this.#parts;
    if (state === 'finished') cases.finished(entry, file);
    else cases.stopped(entry, file);
    this.#memory = withTold(this.#memory, entry.key);
    this.#remember(file, []);
  }

  async #clean(
    file: StateFileSpec,
    before: string,
    dead: readonly Judged[],
    stale: readonly Judged[],
  ): Promise<Rewritten> {
    const { path, fields } = file;
    const ids = new Map(dead.map(({ entry }) => [entry.key, entry.id]));
    // Only what was judged: an entry that somebody has written anew under the same key is another one.
    const change = (text: string): string | null => {
      const read = readEntries(text, fields);
      if (read.kind !== 'entries') return null;
      const gone = read.entries.filter(({ key, id }) => ids.get(key) === id).map(({ key }) => key);
      return gone.length === 0 ? null : withoutMembers(text, fields.agents, new Set(gone));
    };
    this.#remember(file, stale);
    const isWhole = (text: string) => readEntries(text, fields).kind === 'entries';
    const outcome = await rewriteStateFile({ path, before, change, isWhole });
    if (outcome.kind === 'done') {
      if (this.#removed.size > MAX_REMEMBERED) this.#removed.clear();
      for (const id of ids.values()) this.#removed.add(id);
      this.#memory = withZombies(this.#memory, dead);
    } else this.#remember(file, []);
    return outcome;
  }

  /** What an earlier daemon knew; it may have died between cleaning and filing. */
  #recall(file: StateFileSpec): void {
    const text = this.#parts.store.meta(META);
    const stored = readStored(file.path, text);
    this.#written = text;
    if (!stored) return;
    this.#memory = stored.memory;
    if (stored.cleaning.length > 0) this.#last = this.#finish(file, stored).catch(() => {});
  }

  async #finish(file: StateFileSpec, { cleaning }: Stored): Promise<void> {
    const read = await this.#read(file);
    if (read.kind !== 'entries') return;
    const left = new Set(read.entries.map(({ key }) => key));
    const gone = cleaning.filter(({ key }) => !left.has(key));
    if (gone.length > 0 && !this.#isClosed)
      this.#parts.cases.forgotten(
        gone.map(({ text }) => text),
        file,
      );
  }

  #nowIso(): string {
    return new Date(this.#parts.clock.wallNow()).toISOString();
  }

  /** Where the logs end now into which agents write that are known. */
  #endsOfLogs(): ReadonlyMap<string, number> {
    const { logs } = this.#parts;
    const runs = [null, ...[...this.#memory.entries.values()].map(({ seen }) => seen?.run ?? null)];
    const names = new Set(runs.flatMap((run) => logs.writerOf(run) ?? []));
    return new Map([...names].map((name) => [name, logs.end(name)]));
  }

  /** What an agent wrote last is kept as soon as it is seen dead: its loop goes on writing. */
  #keepOutput(judged: readonly Judged[]): void {
    const { logs } = this.#parts;
    const died = judged.filter(({ isNews }) => isNews);
    const writers = died.map(({ run }) => logs.writerOf(run));
    for (const [index, { entry }] of died.entries()) {
      const component = writers[index] ?? null;
      const from = component === null ? undefined : this.#logEnds.get(component);
      if (component === null || from === undefined) continue;
      const several = writers.filter((writer) => writer === component).length > 1;
      this.#outputs.set(entry.key, { component, tail: logs.since(component, from), several });
    }
    const dead = new Set(judged.filter(({ state }) => state !== 'alive').map(({ entry }) => entry.key));
    for (const key of this.#outputs.keys()) if (!dead.has(key)) this.#outputs.delete(key);
  }

  #remember(file: StateFileSpec, cleaning: readonly Judged[]): void {
    const about = cleaning.map((judged) => ({ key: judged.entry.key, text: describeForgotten(judged) }));
    const text = storedText(file.path, { memory: this.#memory, cleaning: about });
    if (text === this.#written) return;
    this.#parts.store.setMeta(META, text);
    this.#written = text;
  }
}

const entryOf = ({ entry }: Judged): Entry => entry;

const isListed = (state: Judged['state']): boolean => state === 'alive' || state === 'unknown' || state === 'pending';
