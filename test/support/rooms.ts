/** The rooms of the house, and who may import whom. The architecture test holds it; the tables of the pages are generated from it. */

export interface Room {
  readonly what: string;
  /** Rooms whose files it may import. */
  readonly imports: readonly string[];
  /** Rooms of which it may import only what they are about: `spec.ts`, `ports.ts` and `rules/`. */
  readonly shapes?: readonly string[];
  /** Rooms whose registry of kinds (`kinds.ts`, `kind.ts`) it may import. */
  readonly kinds?: readonly string[];
}

const FEATURES = ['agents', 'campaigns', 'checks', 'incidents', 'sessions', 'telemetry'];

/** Each may import from itself and from the files directly in src. In the order in which they build on each other. */
export const ROOMS: Readonly<Record<string, Room>> = {
  base: {
    what: 'what everybody needs: clock, log, failpoints, ids, errors, redaction, the state directory and its lock',
    imports: [],
  },
  supervision: {
    what: 'components: their spec, the rules of their life, health and restarts, the event queue, the supervisor',
    imports: ['base'],
  },
  logs: {
    what: 'what components write: kept within bounds, read by position',
    imports: ['base', 'supervision'],
    shapes: ['config'],
  },
  docker: {
    what: 'the client of the Docker Engine, what changed in it, the health of containers, healing of single ones',
    imports: ['base', 'supervision'],
  },
  compose: {
    what: 'services of a compose file, their GPUs, commands that go on in them without us',
    imports: ['base', 'supervision', 'docker'],
  },
  probes: {
    what: 'asks one question, once; one file per kind',
    imports: ['base', 'supervision', 'logs', 'docker', 'config'],
  },
  config: {
    what: 'files and variables in, a complete checked configuration out',
    imports: ['base', 'supervision'],
    shapes: [...FEATURES, 'dashboard', 'history', 'kubernetes', 'fleet'],
    kinds: ['probes', 'checks', 'incidents'],
  },
  drivers: {
    what: 'how one kind of run is started, watched and ended: `process`, `container`, `external`',
    imports: ['base', 'supervision', 'docker', 'compose', 'config'],
  },
  history: {
    what: 'the store: SQLite, or memory where there is no other way',
    imports: ['base', 'supervision'],
    shapes: FEATURES,
  },
  crashes: {
    what: 'evidence, parsers, causes, fingerprints',
    imports: ['base', 'supervision', 'logs', 'drivers', 'config'],
    shapes: ['history'],
  },
  incidents: {
    what: 'incidents, tickets and alerts, and the one queue that delivers to trackers and channels',
    imports: ['base', 'supervision', 'crashes', 'config'],
    shapes: ['history'],
  },
  agents: {
    what: 'agents of ours, those of others, and the loop that spawns them',
    imports: ['base', 'supervision', 'logs', 'probes', 'config', 'drivers', 'crashes', 'incidents'],
    shapes: ['history'],
  },
  sessions: {
    what: "one user's container each, with a lease",
    imports: ['base', 'supervision', 'logs', 'docker', 'config', 'crashes', 'incidents'],
    shapes: ['history'],
  },
  campaigns: {
    what: 'runs a list of experiments, and goes on where it was killed',
    imports: ['base', 'supervision', 'logs', 'docker', 'compose', 'config', 'drivers', 'crashes', 'history'],
  },
  checks: {
    what: 'named one-shot questions and the report on all of them',
    imports: ['base', 'supervision', 'docker', 'probes', 'config', 'drivers', 'crashes'],
    shapes: ['history'],
  },
  simulate: {
    what: 'crashes that somebody asks for',
    imports: ['base', 'supervision', 'config', 'drivers', 'incidents', 'agents'],
    shapes: ['history'],
  },
  kubernetes: {
    what: 'the components as objects of Kubernetes, what of them is lost there, and a cluster as the place where they run',
    imports: ['base', 'supervision', 'config', 'drivers'],
    shapes: ['docker'],
  },
  telemetry: {
    what: 'metrics and traces, loaded only when they are asked for',
    imports: ['base', 'supervision', 'config', 'drivers', 'checks'],
    shapes: ['history'],
  },
  dashboard: {
    what: 'the page: its listener, tokens and parts; everything on one screen, and the last day of every component',
    imports: ['base', 'supervision'],
    shapes: ['incidents', 'history'],
  },
  api: {
    what: 'server, routes and client of the HTTP API',
    imports: ['base', 'supervision', 'logs'],
    shapes: [...FEATURES, 'dashboard', 'history'],
  },
  fleet: {
    what: 'other machines: the way to their daemons by ssh, one question to all of them, their page here, and the memory that hosts share',
    imports: ['base', 'supervision', 'config', 'dashboard', 'api'],
    shapes: ['history', 'incidents'],
  },
  daemon: {
    what: 'the root: puts everything together; main, guardian, launch, control',
    imports: [
      'base',
      'supervision',
      'logs',
      'docker',
      'compose',
      'probes',
      'config',
      'drivers',
      'history',
      'crashes',
      'incidents',
      'agents',
      'sessions',
      'campaigns',
      'checks',
      'simulate',
      'kubernetes',
      'telemetry',
      'dashboard',
      'api',
      'fleet',
    ],
  },
  library: {
    what: 'what programs import',
    imports: [
      'base',
      'supervision',
      'logs',
      'docker',
      'compose',
      'config',
      'incidents',
      'agents',
      'sessions',
      'campaigns',
      'checks',
      'kubernetes',
      'api',
      'fleet',
      'daemon',
    ],
    shapes: ['dashboard'],
  },
  cli: {
    what: 'one file per command; loads everything else only when a command needs it',
    imports: ['base', 'api'],
    shapes: ['supervision', 'logs', 'config', 'crashes', 'dashboard', ...FEATURES],
  },
};

const KINDS = /\/kinds?\.ts$/;
const SHAPE = /\/(spec|ports)\.ts$|\/rules\//;
/** Files that decide and never act: no Node, no clock, no chance. */
export const isPure = (file: string): boolean => /\/rules\/|^src\/base\/pure\/|\/spec\.ts$/.test(file);
export const roomOf = (file: string): string => file.split('/')[1]!;

/** Whether the one file may import the other, both as paths from the root. */
export function mayImport(from: string, to: string): boolean {
  const room = ROOMS[roomOf(from)];
  const target = roomOf(to);
  if (target === roomOf(from) || room?.imports.includes(target)) return true;
  if (room?.kinds?.includes(target) && KINDS.test(to)) return true;
  return (room?.shapes?.includes(target) ?? false) && SHAPE.test(to);
}
