/** What somebody writes to name a project on another machine: ssh://user@host:port/path. Only what can mean nothing else is taken. */

export interface Host {
  /** Null: whoever ssh says. */
  readonly user: string | null;
  /** A name of DNS or of ~/.ssh/config, or an address. */
  readonly host: string;
  /** Null: whichever ssh says. */
  readonly port: number | null;
  /** The project there: absolute, or from the home folder of the user with "~/"; empty: that folder itself. */
  readonly path: string;
}

const SCHEME = 'ssh://';
// Neither can begin with a dash, so neither can be read as an option; no character means anything to a shell, nor to the "%" of ssh.
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/;
const HOST = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/;
const ADDRESS_6 = /^[0-9A-Fa-f:.]{2,45}$/;
const MAX_PORT = 65_535;
const MAX_PATH = 4_000;

/** A name that the user file may give to a host; no slash, so that "web/api" has one reading. */
export const HOST_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export const isAddress = (text: string): boolean => text.startsWith(SCHEME);

/** The host, or what is wrong with the text. */
export function parseHost(text: string): Host | { readonly problem: string } {
  if (!isAddress(text)) return { problem: `it does not begin with ${SCHEME}` };
  const rest = text.slice(SCHEME.length);
  const slash = rest.indexOf('/');
  const [authority, written] = slash < 0 ? [rest, ''] : [rest.slice(0, slash), rest.slice(slash)];
  const at = authority.lastIndexOf('@');
  const [user, place] = at < 0 ? [null, authority] : [authority.slice(0, at), authority.slice(at + 1)];
  const [, six, plain, digits] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(place) ?? [];
  const host = six ?? plain ?? '';
  if (user !== null && !USER.test(user)) return { problem: `"${shown(user)}" cannot be the name of a user` };
  if (!(six === undefined ? HOST : ADDRESS_6).test(host))
    return { problem: `"${shown(place)}" cannot be the name of a host` };
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > MAX_PORT)) return { problem: `there is no port ${port}` };
  const path = pathOf(written);
  return typeof path === 'string' ? { user, host, port, path } : path;
}

/** "/srv/my%20shop" and "/~/shop", as in every other address. */
function pathOf(written: string): string | { readonly problem: string } {
  let path: string;
  try {
    path = decodeURIComponent(written);
  } catch {
    return { problem: 'a "%" in its path is not followed by two hexadecimal digits' };
  }
  if (/\p{Cc}/u.test(path)) return { problem: 'its path has a control character in it' };
  if (path.length > MAX_PATH) return { problem: 'its path is too long' };
  if (path === '' || path === '/~' || path === '/~/') return '';
  return path.startsWith('/~/') ? path.slice(1) : path;
}

const shown = (text: string): string => text.slice(0, 60);

/** "web/api" as a host of the user file and a name there; null: it is no such thing. */
export function hostAndName(text: string): { readonly host: string; readonly name: string } | null {
  const slash = text.indexOf('/');
  const [host, name] = [text.slice(0, slash), text.slice(slash + 1)];
  return slash > 0 && name !== '' && HOST_NAME.test(host) ? { host, name } : null;
}
