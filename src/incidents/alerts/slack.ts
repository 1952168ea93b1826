/** The message in the form of Slack's incoming webhooks. Blocks are plain text, so nothing in them is a link or a mention. */
import type { AlertItem, AlertMessage } from './rules/message.ts';
import { someOf } from '../rules/words.ts';

const MAX_BLOCK_CHARS = 2_900;
const MAX_BLOCKS = 20;
const MARK: Readonly<Record<AlertItem['state'], string>> = { raised: 'New', still: 'Still there', over: 'Recovered' };

/** The short text is read as markup: these three are what begins a link or a mention. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const block = (text: string) => ({
  type: 'section',
  text: { type: 'plain_text', text: text.slice(0, MAX_BLOCK_CHARS), emoji: false },
});

export function slackBody({ text, alerts }: AlertMessage) {
  const shown = alerts.slice(0, MAX_BLOCKS);
  const rest = alerts.length - shown.length;
  return {
    text: escaped(text),
    blocks: [
      ...shown.map(({ state, text: what, joined, incident, ticket }) => {
        const mark = joined.length === 0 ? MARK[state] : `Now also ${someOf(joined)}`;
        const refs = [...(incident === null ? [] : [`incident ${incident}`]), ...(ticket === null ? [] : [ticket])];
        return block(`${mark}: ${what}${refs.length > 0 ? ` (${refs.join(', ')})` : ''}`);
      }),
      ...(rest > 0 ? [block(`and ${rest} more`)] : []),
    ],
  };
}
