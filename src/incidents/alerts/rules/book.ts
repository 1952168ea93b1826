/** What is open, what people were told about it, and what there is to tell next. Pure. */
import type { BootId, MonoMs, WallMs } from '../../../base/pure/ids.ts';
import type { Subject } from '../../../supervision/rules/views.ts';

/** A moment that can be compared after a restart of ours, and after one of the machine. */
export interface Moment {
  readonly bootId: BootId;
  readonly mono: MonoMs;
  readonly wall: WallMs;
}

export interface RaisedAlert {
  readonly kind: AlertKind;
  readonly key: string;
  readonly subject: Subject;
  readonly text: string;
  readonly incident: number | null;
  readonly ticket: number | null;
  /** Everybody that it is about; absent: the subject alone. */
  readonly who?: readonly string[];
  /** Those of them that are not started any more. Absent: that is not known. */
  readonly givenUp?: readonly string[];
  /** Its first words, which stay the same while others join. Absent: nothing is said about who does. */
  readonly what?: string;
}

export interface OpenAlert {
  readonly alert: RaisedAlert;
  readonly since: Moment;
  /** Null: people do not know of it yet. */
  readonly toldAt: Moment | null;
  /** Whom people know of; absent: the subject alone. */
  readonly toldWho?: readonly string[];
  readonly toldGivenUp?: readonly string[];
  /** How often they were told who joined; absent: never. */
  readonly followUps?: number;
}

export interface AlertBook {
  readonly open: readonly OpenAlert[];
  /** Over, and people were told that it had begun. */
  readonly over: readonly OpenAlert[];
  /** When the first of what is untold came; null: nothing is untold. */
  readonly untoldSince: Moment | null;
  /** Crashes that are over and may come back within minutes. Absent: none. */
  readonly lately?: readonly ToldLately[];
}

interface ToldLately {
  readonly key: string;
  readonly toldAt: Moment;
  /** How often it was told lately. */
  readonly times: number;
}

export interface Telling {
  readonly raised: readonly OpenAlert[];
  /** People know of it, but not of all whom it is about by now. */
  readonly joined: readonly OpenAlert[];
  readonly still: readonly OpenAlert[];
  readonly over: readonly OpenAlert[];
}

export const EMPTY_BOOK: AlertBook = { open: [], over: [], untoldSince: null };

/** What comes within this time is one message: a storm has one cause more often than not. */
export const FOLD_MS = 5_000;
const MAX_OPEN = 500;
/** Who joins later is told of after a pause, and each time after a longer one: a storm that goes on is no news. */
const FIRST_FOLLOW_UP_MS = 60_000;
const MAX_FOLLOW_UP_MS = 3_600_000;

/** What mends itself and breaks again is told after a pause, and each time after a longer one, until it was quiet for a day. */
const FIRST_AGAIN_MS = 600_000;
const MAX_AGAIN_MS = 6 * 3_600_000;
const LATELY_MS = 24 * 3_600_000;

/** What people have to do about it: a later kind says more than an earlier one. */
const WEIGHT: Readonly<Record<AlertKind, number>> = {
  ...{ crash: 0, unhealthy: 0, 'crash-rate': 0, freeze: 1, 'gave-up': 1, 'host-silent': 1 },
};
const mendsItself = ({ kind }: RaisedAlert): boolean => kind === 'crash' || kind === 'unhealthy';

export const isOpen = (book: AlertBook, key: string): boolean => book.open.some(({ alert }) => alert.key === key);

export function raised(book: AlertBook, alert: RaisedAlert, now: Moment): AlertBook {
  const known = book.open.find((each) => each.alert.key === alert.key);
  if (known && saysLess(alert, known.alert)) return book;
  if (known && WEIGHT[alert.kind] === WEIGHT[known.alert.kind]) {
    // The words of a reminder are those of today.
    const isSame = known.alert.text === alert.text && known.alert.ticket === alert.ticket;
    if (isSame && namesIn(known.alert).join() === namesIn(alert).join()) return book;
    const current = { ...known, alert: { ...alert, kind: known.alert.kind } };
    return { ...book, open: book.open.map((each) => (each === known ? current : each)) };
  }
  if (!known && book.open.length >= MAX_OPEN) return book;
  const open = book.open.filter((each) => each !== known);
  const since = known?.since ?? now;
  return {
    ...book,
    open: [...open, { alert, since, toldAt: null }],
    over: book.over.filter((each) => each.alert.key !== alert.key),
    untoldSince: book.untoldSince ?? now,
  };
}

function saysLess({ kind }: RaisedAlert, known: RaisedAlert): boolean {
  return WEIGHT[kind] < WEIGHT[known.kind] || (WEIGHT[kind] === 0 && WEIGHT[known.kind] === 0 && kind !== known.kind);
}

const whoIn = ({ who, subject }: RaisedAlert): readonly string[] => who ?? [subject.name];

const namesIn = (alert: RaisedAlert): readonly string[] => [...whoIn(alert), ...(alert.givenUp ?? [])];

/** Whom people were not told of yet, and of whom they do not know that they are given up. */
export function joinedSince(open: OpenAlert): readonly string[] {
  const { alert, toldAt, toldWho = [alert.subject.name] } = open;
  const { givenUp = [] } = alert;
  const { toldGivenUp = givenUp } = open;
  if (toldAt === null) return [];
  return whoIn(alert).filter(
    (name) => !toldWho.includes(name) || (givenUp.includes(name) && !toldGivenUp.includes(name)),
  );
}

/** Null: nobody joined. */
function untilFollowUpMs(open: OpenAlert, now: Moment): number | null {
  const { toldAt, followUps = 0 } = open;
  if (toldAt === null || joinedSince(open).length === 0) return null;
  const pauseMs = Math.min(MAX_FOLLOW_UP_MS, FIRST_FOLLOW_UP_MS * 2 ** Math.min(followUps, 20));
  return Math.max(0, pauseMs - elapsedMs(toldAt, now));
}

/** Nobody is told of the end of what nobody was told of, except after quiet hours. `isEndTold`: the ends of what was told are told. */
export function cleared(
  book: AlertBook,
  key: string,
  now: Moment,
  { isEndTold, isQuiet }: { readonly isEndTold: boolean; readonly isQuiet: boolean } = {
    isEndTold: true,
    isQuiet: false,
  },
): AlertBook {
  const known = book.open.find(({ alert }) => alert.key === key);
  if (!known) return book;
  const open = book.open.filter((each) => each !== known);
  const isTold = known.toldAt === null ? isQuiet : isEndTold;
  const over = isTold ? [...book.over, known].slice(-MAX_OPEN) : book.over;
  const isUntold = over.length > 0 || open.some(({ toldAt }) => toldAt === null);
  const untoldSince = isUntold ? (book.untoldSince ?? now) : null;
  return { open, over, untoldSince, ...latelyAfter(book, known, now) };
}

/** What was told and is over, without what has been quiet for a day. */
function latelyAfter(book: AlertBook, { alert, toldAt }: OpenAlert, now: Moment): Pick<AlertBook, 'lately'> {
  const { lately: before = [] } = book;
  const times = (before.find(({ key }) => key === alert.key)?.times ?? 0) + 1;
  const added = toldAt !== null && mendsItself(alert) ? [{ key: alert.key, toldAt, times }] : [];
  const kept = before.filter(
    (each) => elapsedMs(each.toldAt, now) < LATELY_MS && !(added.length > 0 && each.key === alert.key),
  );
  const lately = [...kept, ...added].slice(-MAX_OPEN);
  return lately.length === 0 ? {} : { lately };
}

/** 0: it may be told. */
function untilAgainMs({ lately = [] }: AlertBook, { alert, toldAt }: OpenAlert, now: Moment): number {
  const last = toldAt === null && mendsItself(alert) ? lately.find(({ key }) => key === alert.key) : undefined;
  if (last === undefined) return 0;
  const pauseMs = Math.min(MAX_AGAIN_MS, FIRST_AGAIN_MS * 2 ** Math.min(last.times - 1, 20));
  return Math.max(0, pauseMs - elapsedMs(last.toldAt, now));
}

/** Within one boot the clock that never jumps counts; over a reboot the other one, as long as it goes forward. */
export const elapsedMs = (from: Moment, to: Moment): number =>
  from.bootId === to.bootId ? to.mono - from.mono : Math.max(0, to.wall - from.wall);

/** How much people want to hear of an alert. */
export interface Handling {
  /** Somebody works on it: no reminders. */
  readonly isAcknowledged: boolean;
  /** For so long nothing about it is told, except that it is over; 0: everything is. */
  readonly silentMs: number;
  /** For so long not even that is told, because of the hour. Absent: everything is. */
  readonly quietMs?: number;
}

export type HandlingOf = (alert: RaisedAlert) => Handling;

const NOT_HANDLED: Handling = { isAcknowledged: false, silentMs: 0 };
const hushMs = ({ silentMs, quietMs = 0 }: Handling): number => Math.max(silentMs, quietMs);
const everybodyIsTold: HandlingOf = () => NOT_HANDLED;

/** What is to be told now; null: nothing yet. Told once it is in the book that comes with it. */
export function telling(
  book: AlertBook,
  remindMs: number | null,
  now: Moment,
  handlingOf: HandlingOf = everybodyIsTold,
): { readonly book: AlertBook; readonly telling: Telling } | null {
  const heard = book.open.filter(({ alert }) => hushMs(handlingOf(alert)) <= 0);
  const untold = heard.filter((each) => each.toldAt === null && untilAgainMs(book, each, now) === 0);
  const over = book.over.filter(({ alert }) => (handlingOf(alert).quietMs ?? 0) <= 0);
  const isDue =
    book.untoldSince !== null && elapsedMs(book.untoldSince, now) >= FOLD_MS && untold.length + over.length > 0;
  const still = heard.filter(
    ({ alert, toldAt }) =>
      remindMs !== null && toldAt !== null && elapsedMs(toldAt, now) >= remindMs && !handlingOf(alert).isAcknowledged,
  );
  const joined = heard.filter((each) => untilFollowUpMs(each, now) === 0);
  if (!isDue && still.length === 0 && joined.length === 0) return null;
  const told = new Set([...untold, ...still, ...joined]);
  const later = book.over.filter((each) => !over.includes(each));
  const known = (each: OpenAlert): OpenAlert => ({
    ...each,
    toldAt: now,
    toldWho: whoIn(each.alert),
    toldGivenUp: each.alert.givenUp ?? [],
    ...(joined.includes(each) ? { followUps: (each.followUps ?? 0) + 1 } : {}),
  });
  return {
    book: {
      ...book,
      open: book.open.map((each) => (told.has(each) ? known(each) : each)),
      over: later,
      // Those that are silenced are told when they may be.
      untoldSince:
        later.length > 0 || book.open.some((each) => each.toldAt === null && !told.has(each)) ? book.untoldSince : null,
    },
    telling: { raised: untold, joined, still: still.filter((each) => !joined.includes(each)), over },
  };
}

/** How long until there may be something to tell; null: not before something happens. */
export function untilDueMs(
  book: AlertBook,
  remindMs: number | null,
  now: Moment,
  handlingOf: HandlingOf = everybodyIsTold,
): number | null {
  const foldMs = book.untoldSince === null ? 0 : FOLD_MS - elapsedMs(book.untoldSince, now);
  const waits = book.open.flatMap((each) => {
    const handling = handlingOf(each.alert);
    const { isAcknowledged } = handling;
    const silentMs = hushMs(handling);
    if (each.toldAt === null) return [Math.max(foldMs, silentMs, untilAgainMs(book, each, now))];
    const remind = remindMs === null || isAcknowledged ? [] : [remindMs - elapsedMs(each.toldAt, now)];
    const followUp = untilFollowUpMs(each, now);
    return [...remind, ...(followUp === null ? [] : [followUp])].map((wait) => Math.max(wait, silentMs));
  });
  for (const { alert } of book.over) waits.push(Math.max(foldMs, handlingOf(alert).quietMs ?? 0));
  return waits.length === 0
    ? null
    : Math.max(
        0,
        waits.reduce((least, wait) => Math.min(least, wait)),
      );
}

/** What is worth people's attention. */
export const ALERT_KINDS = ['crash', 'unhealthy', 'gave-up', 'freeze', 'crash-rate', 'host-silent'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** What people may ask to be told of: an alert, or that one is over. */
export const ALERT_TOPICS = [...ALERT_KINDS, 'recovered'] as const;
export type AlertTopic = (typeof ALERT_TOPICS)[number];

/** Unless something else is said: what restarting did not mend. */
export const DEFAULT_TOPICS: readonly AlertTopic[] = ['gave-up', 'freeze', 'crash-rate', 'host-silent', 'recovered'];

/** One channel may also ask for the digest. */
export const CHANNEL_TOPICS = [...ALERT_TOPICS, 'digest'] as const;
export type ChannelTopic = (typeof CHANNEL_TOPICS)[number];
