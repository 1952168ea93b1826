/** Which screen an address means. Everything is behind the #, so the server never sees it. */

export const SCREENS = [
  'overview',
  'component',
  'crash',
  'crashes',
  'logs',
  'incidents',
  'graph',
  'checks',
  'agents',
  'sessions',
  'campaigns',
  'events',
] as const;
export type Screen = (typeof SCREENS)[number];

export interface Place {
  readonly screen: Screen;
  /** The component, the number of the crash, the campaign. */
  readonly name: string | null;
  readonly query: Readonly<Record<string, string>>;
}

const isScreen = (text: string): text is Screen => (SCREENS as readonly string[]).includes(text);

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** What is not known is the overview. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen = '', ...rest] = path.split('/');
  const found = Object.fromEntries(new URLSearchParams(query));
  if (!isScreen(screen)) return { screen: 'overview', name: null, query: {} };
  const name = rest.length === 0 ? null : decode(rest.join('/'));
  return { screen, name: name === '' ? null : name, query: found };
}

export function hrefOf(
  screen: Screen,
  name: string | number | null = null,
  query: Record<string, string> = {},
): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  const path = screen === 'overview' ? '' : screen;
  return `#/${path}${name === null ? '' : `/${encodeURIComponent(name)}`}${search === '' ? '' : `?${search}`}`;
}

/** "#token=…": the token, which is then taken out of the address bar. */
export const tokenIn = (hash: string): string | null => new URLSearchParams(hash.replace(/^#\/?/, '')).get('token');
