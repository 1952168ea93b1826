/** `keepwell top` at work: reads what the daemon tells, draws what changed, does what the keys ask for. */
import { isGone } from '../../api/client/event-reader.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { OverviewRow, OverviewView } from '../../dashboard/rules/views.ts';
import type { StatusView } from '../../supervision/rules/views.ts';
import type { CliCall } from '../call.ts';
import { noPaint } from '../print/colour.ts';
import { whyText } from '../print/why.ts';
import { readRecords } from '../records.ts';
import { keysOf } from './keys.ts';
import { type Effect, firstModel, type Model, type News, type PaneKind, step } from './model.ts';
import { render } from './render.ts';
import { paintLines, Tty } from './tty.ts';

/** Times on the screen go on. */
const TICK_MS = 1_000;
/** CPU and memory change without an event; they are measured every 15 s. */
const FRESH_MS = 15_000;
/** Many events at once are one look. */
const SETTLE_MS = 150;
const EVENTS_SHOWN = 50;
const LOG_LINES = 500;

/** Until somebody quits. */
export async function runTop(call: CliCall): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    const top = new Top(call, resolve, reject);
    call.signal.addEventListener('abort', () => top.fail(call.signal.reason), { once: true });
    top.begin();
  });
}

class Top {
  readonly #call: CliCall;
  readonly #done: (code: number) => void;
  readonly #failed: (error: unknown) => void;
  readonly #over = new AbortController();
  readonly #tty: Tty;
  #model: Model;
  #drawn: readonly string[] | null = null;
  #isDrawing = false;
  #isReading = false;
  #isPaneReading = false;
  #wantsView = false;
  #isFollowing = false;
  #ticker: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;

  constructor(call: CliCall, done: (code: number) => void, failed: (error: unknown) => void) {
    this.#call = call;
    this.#done = done;
    this.#failed = failed;
    this.#model = firstModel(Date.now(), this.#size());
    this.#tty = new Tty({
      onKeys: (text) => {
        for (const key of keysOf(text)) this.#tell({ kind: 'key', key });
      },
      onChange: () => this.#tell({ kind: 'size', ...this.#size() }),
    });
  }

  begin(): void {
    void this.#readView();
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
  }

  fail(error: unknown): void {
    if (this.#end()) this.#failed(error);
  }

  #end(): boolean {
    if (this.#over.signal.aborted) return false;
    this.#over.abort();
    clearInterval(this.#ticker);
    clearTimeout(this.#settling);
    this.#tty[Symbol.dispose]();
    return true;
  }

  #size(): Model['size'] {
    const { columns = 80, rows = 24 } = this.#call.world.out;
    return { columns, rows };
  }

  #tell(news: News): void {
    if (this.#over.signal.aborted) return;
    const { model, effects } = step(this.#model, news, Date.now());
    this.#model = model;
    for (const effect of effects) this.#do(effect);
    this.#drawSoon();
  }

  #do(effect: Effect): void {
    switch (effect.kind) {
      case 'quit':
        if (this.#end()) this.#done(0);
        return;
      case 'suspend':
        this.#tty.suspend();
        return;
      case 'repaint':
        this.#drawn = null;
        return;
      case 'read':
        return void this.#readPane(effect.of, effect.name);
      case 'act':
        return void this.#act(effect);
      default:
        throw new Error(`no such effect: ${effect satisfies never}`);
    }
  }

  /** Everything that came in one turn is one frame. */
  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setImmediate(() => {
      this.#isDrawing = false;
      if (this.#over.signal.aborted) return;
      const lines = render(this.#model, this.#call.paint);
      this.#tty.write(paintLines(this.#drawn, lines));
      this.#drawn = lines;
    });
  }

  #tick(): void {
    this.#model = { ...this.#model, now: Date.now() };
    const { isAway, offline, readAt, now, pane } = this.#model;
    if (isAway || offline !== null || now - readAt >= FRESH_MS) void this.#readView();
    if (pane?.kind === 'logs' && !isAway) void this.#readPane('logs', pane.name);
    this.#drawSoon();
  }

  // What the daemon tells.

  async #readView(): Promise<void> {
    this.#wantsView = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#wantsView && !this.#over.signal.aborted) {
        this.#wantsView = false;
        this.#tell({ kind: 'view', view: await this.#call.client.overview(), offline: null });
        if (!this.#isFollowing) void this.#follow();
      }
    } catch (error) {
      await this.#onSilence(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** What was seen stays on the screen; whoever begins without a daemon sees what the records say. */
  async #onSilence(error: unknown): Promise<void> {
    if (this.#over.signal.aborted) return;
    if (!isGone(error)) return this.fail(error);
    if (this.#model.view !== null) {
      if (this.#model.offline === null) this.#tell({ kind: 'away' });
      return;
    }
    try {
      const { value, offline } = await readRecords(this.#call, (records) => records.status());
      this.#tell({ kind: 'view', view: overviewOf(value), offline: offline ?? 'the daemon is starting' });
    } catch (problem) {
      this.fail(problem);
    }
  }

  async #follow(): Promise<void> {
    this.#isFollowing = true;
    const { signal } = this.#over;
    try {
      const { last_seq: last } = await this.#call.client.listEvents({ limit: 1 });
      const after = Math.max(0, last - EVENTS_SHOWN);
      const { events: known } = await this.#call.client.listEvents({ after, limit: EVENTS_SHOWN });
      this.#tell({ kind: 'events', events: known });
      const onAway = () => this.#tell({ kind: 'away' });
      for await (const event of this.#call.client.events({ after: last, signal, onAway })) {
        this.#tell({ kind: 'events', events: [event] });
        this.#readSoon();
      }
    } catch (error) {
      this.#isFollowing = false; // the next look that is answered begins again
      await this.#onSilence(error);
    }
  }

  #readSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      void this.#readView();
      const { pane } = this.#model;
      if (pane !== null) void this.#readPane(pane.kind, pane.name);
    }, SETTLE_MS);
  }

  async #readPane(of: PaneKind, name: string): Promise<void> {
    if (this.#isPaneReading && this.#model.pane?.lines !== null) return;
    this.#isPaneReading = true;
    try {
      this.#tell({ kind: 'pane', of, name, lines: await this.#paneLines(of, name) });
    } catch (error) {
      if (!isGone(error)) this.#tell({ kind: 'pane', of, name, lines: [messageOf(error)] });
    } finally {
      this.#isPaneReading = false;
    }
  }

  async #paneLines(of: PaneKind, name: string): Promise<readonly string[]> {
    const { client } = this.#call;
    if (of === 'logs') {
      const { lines } = await client.logs({ components: [name], tail: LOG_LINES, after: {}, previous: false });
      return lines.length === 0 ? ['(it wrote nothing)'] : lines.map(({ line }) => line);
    }
    try {
      const [why, current] = await Promise.all([client.why({ component: name }), client.component(name)]);
      return whyText(why, { current, nowMs: Date.now(), paint: noPaint });
    } catch (error) {
      if (error instanceof AppError && error.code === 'NOTHING_RECORDED') return ['no crash of it is on record'];
      throw error;
    }
  }

  async #act({ verb, name }: Extract<Effect, { kind: 'act' }>): Promise<void> {
    try {
      await this.#call.client.act(verb, [name]);
      this.#tell({ kind: 'said', message: `asked to ${verb} ${name}` });
    } catch (error) {
      this.#tell({ kind: 'said', message: `could not ${verb} ${name}: ${messageOf(error)}` });
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What the records say, without a day: that takes a daemon. */
const overviewOf = ({ project, daemon, components }: StatusView): OverviewView => ({
  schema_version: 1,
  project,
  daemon: { version: daemon.version, started_at: daemon.started_at, pid: daemon.pid },
  timeline: { from: new Date(0).toISOString(), bucket_ms: 1, buckets: 0 },
  attention: [],
  components: components.map((view): OverviewRow => {
    const { name, kind, state, condition, health, ready, desired, pid, started_at, restarts, restart_limit } = view;
    const { next_attempt_at, depends_on, waiting_for, note } = view;
    return {
      ...{ name, kind, state, condition, health, ready, desired, pid, started_at, restarts, next_attempt_at },
      restart_limit: restart_limit ?? null,
      ...{ depends_on, waiting_for, note, cpu_percent: null, memory_bytes: null },
      ...{ timeline: '', up_percent: null, up_percent_week: null, cpu: [], memory: [] },
    };
  }),
});
