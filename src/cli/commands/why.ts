/** keepwell why: one death, with everything that is known about it. */
import { AppError } from '../../base/pure/errors.ts';
import type { ComponentView, WhyView } from '../../supervision/rules/views.ts';
import type { CliCall } from '../call.ts';
import type { Definition } from '../define.ts';
import { whyText } from '../print/why.ts';
import type { Records } from '../records.ts';
import { readRecords } from '../records.ts';
import { describe } from '../settle.ts';

interface WhyAnswer {
  /** Null: nothing on record. */
  readonly why: WhyView | null;
  readonly current: ComponentView | null;
}

export const why: Definition<object> = {
  usage: 'why [NAME|CRASH-ID|HOST/NAME]',
  group: 'Every day:',
  summary: 'why something died: cause, last output, what was decided and by which rule',
  examples: [
    ['keepwell why worker', 'its last crash'],
    ['keepwell why', 'the newest crash'],
    ['keepwell why 12', 'crash 12 of "keepwell crashes"'],
    ['keepwell why web/worker', 'its last crash on the host "web" of your list'],
    ['keepwell why worker -o json | jq .log_tail', 'for scripts'],
  ],
  handler: async (here, [asked]) => {
    const { call, word } = await meant(here, asked);
    const which = word ?? (await newestDeath(call));
    if (which === null) {
      call.printJson(null);
      call.print('no crashes on record');
      return 0;
    }
    const { value, offline } = await readRecords(call, (records) => find(records, which));
    if (offline !== null) call.note(`${offline}; this is what the records and the run directories say`);
    call.printJson(value.why);
    if (value.why === null) {
      call.print(noCrash(which, value.current));
      return 0;
    }
    const context = { current: value.current, nowMs: Date.now(), paint: call.paint };
    call.print(...whyText(value.why, context));
    return 0;
  },
};

/** No component has a slash in its name: what is before it is a host of the list, or else a campaign. */
async function meant(call: CliCall, word: string | undefined): Promise<{ call: CliCall; word: string | undefined }> {
  if (word === undefined || call.host !== null || !word.includes('/')) return { call, word };
  const there = (await import('../../fleet/open.ts')).listedHostAndName(word, call.world.env);
  return there === null ? { call, word } : { call: call.on(there.host), word: there.name };
}

/** The number of the newest crash, or the name of what died after it and is not recorded yet; null: there is none. */
export async function newestDeath(call: CliCall): Promise<string | null> {
  const { value } = await readRecords(call, async (records) => ({
    ...(await records.crashes({ limit: 1 })),
    ...(await records.status()),
  }));
  const recorded = value.crashes[0];
  const died = value.components
    .filter(({ last_exit: end }) => end?.crash && (recorded === undefined || end.at > recorded.at))
    .sort((one, other) => (one.last_exit!.at < other.last_exit!.at ? 1 : -1))[0];
  return died?.name ?? (recorded === undefined ? null : `#${recorded.id}`);
}

async function find(records: Records, which: string): Promise<WhyAnswer> {
  const { components } = await records.status();
  const named = (name: string) => components.find((one) => one.name === name) ?? null;
  const id = /^#?(\d{1,15})$/.exec(which)?.[1];
  const current = named(which);
  try {
    // A name made of digits only is allowed, and meant when there is one.
    const found = await records.why(id !== undefined && current === null ? { id: Number(id) } : { component: which });
    return { why: found, current: named(found.subject.name) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOTHING_RECORDED') return { why: null, current };
    throw error;
  }
}

/** Nobody died: good news, and no error. */
const noCrash = (name: string, current: ComponentView | null): string =>
  current === null
    ? `no crash of ${name} is on record`
    : `${describe(current)}${current.state === 'running' && current.ready ? ' and fine' : ''}; no crash of it is on record`;
