/** A message of the desktop when something new needs attention while nobody looks at the page. Only where somebody asked for it. */
import { signal } from '@preact/signals';
import { overview, said } from '../io/live.ts';
import { plainText } from '../lib/ansi.ts';
import { fresh } from '../lib/attention.ts';

const KEY = 'keepwell-notify';

export const canNotify = 'Notification' in globalThis;
const isAllowed = (): boolean => canNotify && Notification.permission === 'granted';
export const notifies = signal(isAllowed() && localStorage.getItem(KEY) === 'yes');

export async function toggleNotify(): Promise<void> {
  const wanted = !notifies.value && (isAllowed() || (await Notification.requestPermission()) === 'granted');
  if (!wanted && !notifies.value) said.value = 'The browser does not allow notifications from this page.';
  notifies.value = wanted;
  localStorage.setItem(KEY, wanted ? 'yes' : 'no');
}

let known: ReadonlySet<string> | null = null;

/** What was there when the page was opened is no news. */
overview.subscribe((view) => {
  if (view === null) return;
  const { keys, news } = fresh(known, view.attention);
  known = keys;
  if (!notifies.value || !document.hidden) return;
  for (const { name, title, cause } of news) {
    const message = new Notification(name === null ? view.project : `${view.project}: ${name}`, {
      body: plainText(cause ?? title),
      tag: title,
    });
    message.onclick = () => {
      focus();
      message.close();
    };
  }
});
