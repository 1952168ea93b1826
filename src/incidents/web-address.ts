/** Addresses on the web. Those of webhooks are secrets: only the host of one is ever named. */

export const hostOf = (url: string): string =>
  URL.canParse(url) ? new URL(url).host : 'an address that cannot be read';

const MAX_ADDRESS_CHARS = 500;

/** An address that somebody gave, if it is one that can be shown as a link. */
export function webAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_ADDRESS_CHARS || !URL.canParse(value)) return null;
  const { protocol, username, password, href } = new URL(value);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' ? href : null;
}
