/** Versions of Docker Compose as it prints them: "1.29.2", "2.26.1-4", "v2.3.3", "2.40.3+ds1". */
export interface ComposeVersion {
  readonly major: number;
  readonly minor: number;
  /** As it was printed, for people. */
  readonly text: string;
}

/** Null: that is no version, so it was not Compose that answered. */
export function parseVersion(printed: string): ComposeVersion | null {
  const line = printed.trim().split('\n').at(-1)?.trim() ?? '';
  const found = /^v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+~][\w.+~-]*)?$/.exec(line);
  return found ? { major: Number(found[1]), minor: Number(found[2]), text: line.replace(/^v/, '') } : null;
}

/** Only from here on `config` prints JSON; whatever is older prints its usage, and exits with 0 as if all were well. */
export const knowsJson = ({ major }: ComposeVersion): boolean => major >= 2;
