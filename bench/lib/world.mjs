/**
 * All that one run of the benchmark has on this machine: one directory, and processes that carry its name in their environment. Both
 * are gone at the end, however it ends.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Announcements } from './announcements.mjs';
import { removeCgroup, removeCgroups } from './cgroups.mjs';
import { openEngine } from './engine.mjs';
import { isThere, lacks, pidsWith } from './proc.mjs';

/** Not KEEPWELL_…: Keepwell keeps its own variables from its components. */
const MARK = 'BENCH_WORLD';
const FLEET_MARK = 'BENCH_FLEET';
const PASSES = 200;
const PASS_MS = 25;

export class World {
  dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-'));
  name = basename(this.dir);
  #engine = null;
  #clearing = new Map();

  static async open() {
    const world = new World();
    try {
      world.announcements = await Announcements.open(world.dir);
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  /** For what is started before there are fleets: it is ended with all the rest. */
  get mark() {
    return { [MARK]: this.dir };
  }

  /** What processes of a fleet are given: little, nothing private, and their mark. */
  env(fleet, more = {}) {
    const { PATH, LANG } = process.env;
    return { PATH, ...(LANG ? { LANG } : {}), HOME: this.dir, ...this.mark, [FLEET_MARK]: fleet, ...more };
  }

  /** The one private Docker Engine of this run, started when it is first asked for. */
  engine() {
    this.#engine ??= openEngine();
    return this.#engine;
  }

  /** What must be done before the processes of the fleet are killed. */
  onClear(fleet, act) {
    this.#clearing.set(fleet, act);
  }

  newDir(name) {
    const dir = join(this.dir, name);
    mkdirSync(dir, { recursive: true });
    return dir;
  }

  /** Everything a tool runs for this fleet, except the components themselves. */
  overhead(fleet) {
    const components = new Set(this.announcements.pids(fleet).values());
    return pidsWith(FLEET_MARK, fleet).filter((pid) => isThere(pid) && !components.has(pid));
  }

  /** Without the mark they would not be found again when all is cleared away. */
  assertMarked(fleet) {
    const lost = [...this.announcements.pids(fleet).values()].filter(
      (pid) => isThere(pid) && lacks(pid, FLEET_MARK, fleet),
    );
    if (lost.length > 0) throw new Error(`processes of ${fleet} have lost their mark: ${lost.join(' ')}`);
  }

  /** Ends the fleet the hard way and removes what it had. */
  async clear(fleet) {
    await this.#clearing.get(fleet)?.();
    this.#clearing.delete(fleet);
    await killAll(() => pidsWith(FLEET_MARK, fleet));
    this.announcements.forget(fleet);
    removeRunCgroups(join(this.dir, fleet));
    removeCgroups(`${this.name}.${fleet}`);
    rmSync(join(this.dir, fleet), { recursive: true, force: true });
  }

  async close() {
    this.announcements?.close();
    // The Engine takes its containers with it.
    await (await this.#engine?.catch(() => null))?.close();
    await killAll(() => pidsWith(MARK, this.dir));
    for (const name of existsSync(this.dir) ? readdirSync(this.dir) : []) removeRunCgroups(join(this.dir, name));
    removeCgroups(this.name);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** In several passes: what was about to be born in one is found by the next. */
async function killAll(find) {
  for (let pass = 0; pass < PASSES; pass += 1) {
    const pids = find().filter(isThere);
    if (pids.length === 0) return;
    for (const pid of pids) kill(pid);
    await pause(PASS_MS);
  }
  throw new Error(`these processes do not go away: ${find().join(' ')}`);
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}

/** A Keepwell daemon that was killed leaves the empty cgroups of its runs behind. */
function removeRunCgroups(dir) {
  const runs = join(dir, '.keepwell', 'runs');
  const parents = new Set();
  for (const name of existsSync(runs) ? readdirSync(runs) : []) {
    const { cgroup } = readJson(join(runs, name, 'run.json')) ?? {};
    if (!cgroup) continue;
    removeCgroup(cgroup);
    parents.add(dirname(cgroup));
  }
  for (const parent of parents) removeCgroup(parent);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
