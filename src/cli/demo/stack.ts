/** The configuration of the demo, with comments: whoever says --keep will read it. */

export interface Ports {
  readonly web: number;
  readonly reports: number;
}

/** As an element of a command: quoted for YAML, and with no variable in it. */
const quoted = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'));

/** Told once all of it works: those with a liveness probe have answered it, too. */
export const ALL_WELL = [
  'web component.ready',
  'web component.healthy',
  'mailer component.ready',
  'reports component.ready',
  'reports component.healthy',
  'indexer component.ready',
] as const;

export const stackYaml = (node: string, ports: Ports): string => `# The stack of "keepwell demo".
name: demo
components:
  web: # an ordinary web server
    process: { command: [${quoted(node)}, web.cjs, "${ports.web}"] }
    readiness: { http: { port: ${ports.web}, path: /ready }, period: 1s }
    liveness: { http: { port: ${ports.web}, path: /healthz }, period: 1s, timeout: 1s, failure_threshold: 5 }
    restart: { never_on: [78] }
  mailer: # throws an error at an order without a customer
    process: { command: [${quoted(node)}, mailer.cjs] }
    depends_on: { web: ready }
    readiness: { log: "waiting for orders" }
    restart: { backoff: { initial: 500ms } }
  reports: # hangs while it makes the report of month 13
    process: { command: [${quoted(node)}, reports.cjs, "${ports.reports}"] }
    depends_on: { web: ready }
    readiness: { http: { port: ${ports.reports}, path: /ready }, period: 1s }
    liveness: { http: { port: ${ports.reports}, path: /healthz }, period: 1200ms, timeout: 1s, failure_threshold: 2 }
    restart: { backoff: { initial: 500ms }, never_on: [78] }
  indexer: # ignores SIGTERM, and so do its two helpers
    process: { command: [sh, indexer.sh] }
    depends_on: { web: ready }
    readiness: { log: "at work" }
    stop: { grace: 1s }
`;
