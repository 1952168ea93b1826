/** Both versions of Docker Compose for tests, each as a machine has it that has no other. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { TestEngine } from './engine.ts';
import { tempDir } from './temp-dir.ts';

export const VERSIONS = ['1', '2'] as const;
export type ComposeVersion = (typeof VERSIONS)[number];

const CACHED = resolve('node_modules/.cache/keepwell-compose-v2');
const where = (program: string): string =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((dir) => join(dir, program))
    .find((path) => existsSync(path)) ?? '';

/** The variables with which only this version is found; `skip` is the test's. */
export function composeEnv(
  version: ComposeVersion,
  dir: string,
  skip: (note: string) => never,
): Readonly<Record<string, string>> {
  const program = where(version === '1' ? 'docker-compose' : 'docker');
  const config = process.env['KEEPWELL_TEST_COMPOSE_V2'] ?? CACHED;
  const isThere = program !== '' && (version === '1' || existsSync(join(config, 'cli-plugins/docker-compose')));
  if (!isThere) {
    const note = `Docker Compose ${version} is not here: "npm test" fetches it where it can`;
    if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(note);
    return skip(note);
  }
  const bin = join(dir, `bin-${version}`);
  mkdirSync(bin, { recursive: true });
  symlinkSync(program, join(bin, version === '1' ? 'docker-compose' : 'docker'));
  return { PATH: bin, DOCKER_CONFIG: version === '1' ? bin : config };
}

/** Until the end of the test, this process finds only that Compose and that Engine. */
export function useCompose(version: ComposeVersion, engine: TestEngine, skip: (note: string) => never): void {
  const dir = tempDir();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    dir[Symbol.dispose]();
  });
  const variables = { ...composeEnv(version, dir.path, skip), ...engine.env };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
}

/** Everything in the Engine that carries the label of a project: containers, networks, volumes. */
export async function thingsOf(engine: TestEngine, project: string): Promise<readonly string[]> {
  const label = `com.docker.compose.project=${project}`;
  const filters = `filters=${encodeURIComponent(JSON.stringify({ label: [label] }))}`;
  const containers = await engine.labelled(label);
  const networks = JSON.parse(await engine.call('GET', `/networks?${filters}`)) as { Name: string }[];
  const { Volumes } = JSON.parse(await engine.call('GET', `/volumes?${filters}`)) as {
    Volumes: { Name: string }[] | null;
  };
  return [
    ...containers.map(({ Names }) => `container ${Names[0]}`),
    ...networks.map(({ Name }) => `network ${Name}`),
    ...(Volumes ?? []).map(({ Name }) => `volume ${Name}`),
  ];
}
