/** What the page knows, kept up to date: events as they come, the overview whenever something happened, and whether any of it is old. */
import { batch, computed, signal } from '@preact/signals';
import type { OverviewView } from '../../src/dashboard/rules/views.ts';
import type { EventsView, EventView } from '../../src/supervision/rules/views.ts';
import { withEvents } from '../lib/happenings.ts';
import { type Place, placeOf } from '../lib/route.ts';
import { get, getTagged, Refused, stream } from './api.ts';

export interface Access {
  readonly role: 'read' | 'control';
  readonly project: string;
}

export const place = signal<Place>(placeOf(location.hash));
export const access = signal<Access | null>(null);
export const overview = signal<OverviewView | null>(null);
export const events = signal<readonly EventView[]>([]);
/** live: the stream of events is open. away: nobody answers. denied: the token is not accepted. */
export const link = signal<'connecting' | 'live' | 'away' | 'denied'>('connecting');
export const heardAt = signal(Date.now());
export const now = signal(Date.now());
export const filter = signal('');
/** What the screen reader is told. */
export const said = signal('');

export const rows = computed(() => overview.value?.components ?? []);
export const ageSeconds = computed(() => Math.max(0, Math.round((now.value - heardAt.value) / 1000)));
export const isLive = computed(() => link.value === 'live');

const EVENTS_KNOWN = 300;
const AGAIN_MS = 1_000;
/** With nothing happening, what is used is asked for this often. */
const IDLE_MS = 5_000;
/** However much happens. */
const LEAST_MS = 700;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

let tag = '';
let isAsking = false;
let wanted = false;

/** One question at a time; what happens meanwhile leads to one more. */
export async function refresh(): Promise<void> {
  wanted = true;
  if (isAsking) return;
  isAsking = true;
  try {
    while (wanted) {
      wanted = false;
      const answer = await getTagged<OverviewView>('/v1/overview', tag);
      batch(() => {
        heardAt.value = Date.now();
        if (answer === null) return;
        tag = answer.tag;
        overview.value = answer.value;
      });
      if (wanted) await pause(LEAST_MS);
    }
  } catch (error) {
    failed(error);
  } finally {
    isAsking = false;
  }
}

function failed(error: unknown): void {
  if (error instanceof Refused && (error.status === 401 || error.status === 403)) link.value = 'denied';
  else if (!(error instanceof Refused) || error.status >= 500) link.value = 'away'; // 5xx: who passes it on finds nobody
}

async function firstEvents(): Promise<void> {
  const { last_seq } = await get<EventsView>('/v1/events?limit=1');
  const after = Math.max(0, last_seq - EVENTS_KNOWN);
  events.value = withEvents([], (await get<EventsView>(`/v1/events?after=${after}&limit=1000`)).events);
  lastSeq = Math.max(last_seq, events.value.at(-1)?.seq ?? 0);
}

let lastSeq = -1;
/** Aborted while nobody looks: a browser has six connections to one address for all its pages, and a stream keeps one. */
let shown = new AbortController();
const HIDDEN_MS = 15_000;

async function connect(): Promise<void> {
  access.value = await get<Access>('/v1/access');
  if (lastSeq === -1) await firstEvents();
  await refresh();
  await stream<EventView>(
    `/v1/events?after=${lastSeq}`,
    shown.signal,
    () => {
      link.value = 'live';
    },
    (items) => {
      lastSeq = items.at(-1)!.seq;
      events.value = withEvents(events.value, items);
      heardAt.value = Date.now();
      void refresh();
    },
  );
}

/** Goes on from the last event seen, for as long as the page is open. */
async function follow(): Promise<void> {
  for (;;) {
    try {
      await connect();
      if (!document.hidden) link.value = 'away';
    } catch (error) {
      if (!document.hidden) failed(error);
      if (link.value === 'denied') return;
    }
    await pause(AGAIN_MS);
    // What is in the title stays true in the background, too.
    while (document.hidden) {
      await refresh();
      await pause(HIDDEN_MS);
    }
    if (shown.signal.aborted) shown = new AbortController();
  }
}

export function start(): void {
  void follow();
  setInterval(() => {
    if (document.hidden) return;
    now.value = Date.now();
    if (link.value === 'live' && now.value - heardAt.value >= IDLE_MS) void refresh();
  }, 1_000);
  document.addEventListener('visibilitychange', () => {
    now.value = Date.now();
    if (document.hidden) shown.abort();
    else if (link.value === 'live') void refresh();
  });
}

/** After a new token. */
export function again(): void {
  link.value = 'connecting';
  void follow();
}
