/** Which Docker Compose there is. Asked once per process: it is another program for another PATH or another Docker configuration. */
import { type ComposeVersion, parseVersion } from '../rules/version.ts';
import { type CliParts, call } from './call.ts';
import { lastLines } from './words.ts';

export interface ComposeCommand {
  readonly command: readonly string[];
  readonly version: ComposeVersion;
}

export type Detected =
  | { readonly kind: 'found'; readonly compose: ComposeCommand }
  | { readonly kind: 'missing'; readonly why: string };

/** The plugin first: the old program of its own is the older one, too. */
const CANDIDATES = [['docker', 'compose'], ['docker-compose']] as const;
/** The old one is written in Python, and has much to load. */
const DETECT_WITHIN_MS = 30_000;

const found = new Map<string, ComposeCommand>();

/** Rejects only when `signal` aborts. What is missing may be installed meanwhile, so only what was found is kept in mind. */
export async function detect(parts: CliParts, signal: AbortSignal): Promise<Detected> {
  const { PATH, DOCKER_CONFIG, HOME } = parts.env;
  const key = [PATH, DOCKER_CONFIG, HOME].join('\n');
  const known = found.get(key);
  if (known) return { kind: 'found', compose: known };
  const reasons: string[] = [];
  for (const command of CANDIDATES) {
    const tried = await tryOut(parts, command, signal);
    if (typeof tried === 'string') {
      reasons.push(`"${command.join(' ')}" ${tried}`);
      continue;
    }
    found.set(key, tried);
    return { kind: 'found', compose: tried };
  }
  return { kind: 'missing', why: reasons.join(', ') };
}

/** Why it cannot be used, otherwise. */
async function tryOut(
  parts: CliParts,
  command: readonly string[],
  signal: AbortSignal,
): Promise<ComposeCommand | string> {
  const asked = { command: [...command, 'version', '--short'], cwd: '/', timeoutMs: DETECT_WITHIN_MS };
  const result = await call(parts, asked, signal);
  if (result.kind === 'not-started')
    return result.code === 'ENOENT' ? 'is not installed' : `cannot be run (${result.code})`;
  if (result.kind !== 'exited') return 'gave no answer in time';
  const version = parseVersion(result.stdout);
  if (result.code === 0 && version) return { command, version };
  return `is not there (${lastLines(result.stderr, 1) || `exit ${result.code}`})`;
}
