/** keepwell alerts: by which ways people are told, and whether a message arrives. */
import type { AlertsView } from '../../incidents/alerts/rules/view.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { byAction, type Definition } from '../define.ts';
import type { Paint } from '../print/colour.ts';
import { oneLine } from '../print/sanitise.ts';
import { table } from '../print/table.ts';

const EXIT_NOT_ARRIVED = 1;

export const alerts: Definition<object> = {
  usage: 'alerts [ACTION]',
  group: 'See what happened:',
  summary: 'who is alerted, and does it arrive: list, test',
  ...byAction<object>('alerts', {
    list: { what: 'channels and alerts that are not over (the default)', act: list },
    test: { what: 'send a test message to every channel and say what came of it; exit 1 when one failed', act: test },
  }),
  description: 'Channels are configured under "alerts".',
  examples: [
    ['keepwell alerts', 'where do alerts go, and did they arrive?'],
    ['keepwell alerts test', 'try every channel now'],
  ],
};

async function list(call: CliCall, words: readonly string[]): Promise<number> {
  noWords('list', words);
  await awaitDaemon(call);
  const view = await call.client.alerts();
  call.printJson(view);
  call.print(...listed(view, call.paint, call.columns));
  return 0;
}

function listed(view: AlertsView, paint: Paint, columns: number | undefined): readonly string[] {
  const { channels, open, on, quiet_until, next_digest } = view;
  if (channels.length === 0) return ['no alert channel is configured: see "alerts" in the guide'];
  const state = (problem: string | null, waiting: number) =>
    problem !== null
      ? { text: oneLine(problem), brush: paint.red }
      : { text: waiting > 0 ? `${waiting} on the way` : 'ok', brush: waiting > 0 ? paint.yellow : paint.green };
  const usual = [...on, 'digest'].join();
  const rows = channels.map(({ channel, on: own, waiting, lost, problem }) => [
    { text: oneLine(channel), brush: paint.bold },
    { text: own.join() === usual ? 'all' : own.join(', ') },
    { text: String(lost) },
    state(problem, waiting),
  ]);
  return [
    ...table(['CHANNEL', 'ON', 'LOST', 'STATE'], rows, columns),
    `alerts on: ${on.join(', ')}`,
    ...(quiet_until === null ? [] : [`quiet hours until ${quiet_until}: alerts are held back`]),
    ...(next_digest === null ? [] : [`next digest: ${next_digest}`]),
    ...(open.length === 0 ? ['nothing to alert about now'] : []),
    ...open.map(({ kind, text, told }) => `${kind}: ${oneLine(text)}${told ? '' : ' (not told yet)'}`),
  ];
}

async function test(call: CliCall, words: readonly string[]): Promise<number> {
  noWords('test', words);
  await awaitDaemon(call);
  const view = await call.client.testAlerts();
  call.printJson(view);
  for (const { channel, ok, problem } of view.results)
    call.print(
      `${oneLine(channel)}: ${ok ? call.paint.green('sent') : call.paint.red(`failed: ${oneLine(problem ?? '')}`)}`,
    );
  return view.results.every(({ ok }) => ok) ? 0 : EXIT_NOT_ARRIVED;
}

function noWords(action: string, words: readonly string[]): void {
  if (words.length > 0) throw usage(`"alerts ${action}" takes no names: it is about all channels.`);
}
