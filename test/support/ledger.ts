/** Components that keep their own books: each writes down that it begins and ends, and whether its predecessor is still alive then. */
import { isAlive, type TestProject } from './project.ts';

/**
 * Its predecessor is read from its own ledger, so nothing that the product believes is asked. A predecessor that has said "end" is on
 * its way out; one that was killed says nothing and is not alive.
 */
const WORKER = `ledger=$1
last=$(sed -n 's/^begin //p' "$ledger" 2>/dev/null | tail -n 1)
if [ -n "$last" ] && ! grep -q "^end $last$" "$ledger" && kill -0 "$last" 2>/dev/null; then
  printf 'doubled %s by %s\\n' "$last" "$$" >>"$ledger"
fi
trap 'printf "end %s\\n" "$$" >>"$ledger"; exit 0' TERM
printf 'begin %s\\n' "$$" >>"$ledger"
while :; do sleep 1 & wait $!; done
`;

export const ledgerConfig = (names: readonly string[]): string => {
  const each = names.map(
    (name) => `  ${name}:
    process: { command: [sh, ./worker.sh, ./ledger-${name}] }
    min_uptime: 0s
    stop: { grace: 20s }
    restart: { policy: always, backoff: { initial: 0s, max: 0s, jitter: 0 }, limit: { max: 1000000, within: 1s } }`,
  );
  return `components:\n${each.join('\n')}\n`;
};

export class Ledgers {
  readonly #project: TestProject;
  readonly #names: readonly string[];

  constructor(project: TestProject, names: readonly string[]) {
    this.#project = project;
    this.#names = names;
    project.write('worker.sh', WORKER);
  }

  /** The pids of all runs of a component, in order. */
  begun(name: string): readonly number[] {
    return this.#lines(name).flatMap(([what, pid]) => (what === 'begin' ? [Number(pid)] : []));
  }

  get doubled(): readonly string[] {
    return this.#names.flatMap((name) =>
      this.#lines(name).flatMap(([what, ...rest]) => (what === 'doubled' ? [`${name}: ${rest.join(' ')}`] : [])),
    );
  }

  /** Those that live, of everybody who ever began. */
  get alive(): readonly string[] {
    return this.#names.flatMap((name) =>
      this.begun(name)
        .filter(isAlive)
        .map((pid) => `${name}: ${pid}`),
    );
  }

  #lines(name: string): readonly (readonly string[])[] {
    const text = this.#project.read(`ledger-${name}`);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(' '));
  }
}
