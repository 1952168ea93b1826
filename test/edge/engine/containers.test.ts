/** What the client does with containers, on a real Docker Engine. */
import { expect, test } from 'vitest';
import { useEngine } from '../../support/engine.ts';
import { waitFor } from '../../support/wait-for.ts';
import { clientOf, made, never, plan, seen } from './workbench.ts';

const need = useEngine();

test('a container is made as planned, and its health check tells', async ({ skip }) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const id = await made(engine, docker, {
    command: [
      'sh',
      '-c',
      'echo "$GREETING, user $(id -u) in $PWD"; test -w /bin || echo read-only; ulimit -n; sleep 300',
    ],
    env: { GREETING: 'a=b "c"', EMPTY: '' },
    labels: { 'keepwell.owner': 'me' },
    user: '1000',
    workdir: '/bin',
    readOnly: true,
    tmpfs: { '/scratch': 'rw,size=1m' },
    nofile: 64,
    memoryBytes: 32 * 2 ** 20,
    pids: 20,
    cpus: 0.5,
    dropCapabilities: ['ALL'],
    noNewPrivileges: true,
    init: false,
    healthCheck: {
      command: ['sh', '-c', 'echo not yet; exit 1'],
      times: { intervalMs: 100, timeoutMs: 5_000, startPeriodMs: 0, retries: 2 },
    },
  });
  expect(await engine.start(id, never)).toEqual({ kind: 'done' });
  expect(await engine.start(id, never)).toEqual({ kind: 'done' });
  const { setup } = await seen(engine, id);
  expect(setup).toMatchObject({
    image: 'keepwell-test',
    labels: { 'keepwell.owner': 'me' },
    restartPolicy: { name: 'no', maxRetries: 0 },
    autoRemove: false,
    logRotation: { fileBytes: 20 * 2 ** 20, files: 5 },
    tty: false,
    healthCheck: { intervalMs: 100, timeoutMs: 5_000, startPeriodMs: 0, retries: 2 },
    networks: ['none'],
    tmpfs: ['/scratch'],
  });
  const { state } = await waitFor('the health check to have failed twice', async () => {
    const observation = await seen(engine, id);
    return observation.state.health?.status === 'unhealthy' ? observation : null;
  });
  expect(state.health).toMatchObject({ lastExitCode: 1, lastOutput: 'not yet' });
  expect(state.health?.failures).toBeGreaterThanOrEqual(2);
  expect(state.health?.lastEndedAt).toBeGreaterThan(Date.parse(state.startedAt));
  expect(await engine.list(['keepwell.owner=me'], never)).toMatchObject({
    kind: 'listed',
    items: [{ id, names: [setup.name], status: 'running', health: 'unhealthy', image: 'keepwell-test' }],
  });
  expect(await engine.list(['keepwell.owner=you'], never)).toEqual({ kind: 'listed', items: [] });
  const stats = await engine.stats(id, never);
  expect(stats).toMatchObject({
    kind: 'read',
    stats: { memoryLimitBytes: 32 * 2 ** 20, processes: expect.any(Number) },
  });
  const said: string[] = [];
  const read = { after: null, follow: false, onPiece: (piece: Buffer) => void said.push(piece.toString()) };
  expect(await engine.logs(id, read, never)).toEqual({ kind: 'done' });
  expect(said.join('')).toBe('a=b "c", user 1000 in /bin\nread-only\n64\n');
});

test('a container that ignores its stop signal is killed after its grace, and started again it is a new run', async ({
  skip,
}) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const id = await made(engine, docker, { command: ['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'] });
  await engine.start(id, never);
  const before = await seen(engine, id);
  expect(await engine.stop(id, 100, never)).toEqual({ kind: 'done' });
  expect(await seen(engine, id)).toMatchObject({ state: { running: false, exitCode: 137, oomKilled: false } });
  expect(await engine.stop(id, 100, never)).toEqual({ kind: 'done' });
  expect(await engine.kill(id, 'SIGKILL', never)).toEqual({ kind: 'done' });
  expect(await engine.stats(id, never)).toMatchObject({ kind: 'refused' });
  await engine.start(id, never);
  expect((await seen(engine, id)).state.startedAt).not.toBe(before.state.startedAt);
  expect(await engine.restart(id, 0, never)).toEqual({ kind: 'done' });
  expect(await engine.unpause(id, never)).toEqual({ kind: 'done' });
  expect(await engine.setRestartPolicy(id, { name: 'no', maxRetries: 0 }, never)).toEqual({ kind: 'done' });
  const removed = await Promise.all([engine.remove(id, never), engine.remove(id, never), engine.remove(id, never)]);
  for (const deed of removed) expect(['done', 'missing']).toContain(deed.kind);
  await waitFor('it to be gone', async () => (await engine.inspect(id, never)).kind === 'missing');
  for (const deed of [engine.start(id, never), engine.stop(id, 0, never), engine.kill(id, 'SIGTERM', never)])
    expect(await deed).toEqual({ kind: 'missing' });
  expect(await engine.remove(id, never)).toEqual({ kind: 'missing' });
});

test('names, images and programs that cannot be had are told apart', async ({ skip }) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const name = docker.newName();
  const created = await engine.create(name, plan({ command: ['no-such-program'] }), never);
  expect(created).toMatchObject({ kind: 'created' });
  expect(await engine.create(name, plan(), never)).toMatchObject({ kind: 'name-taken' });
  expect(await engine.create(docker.newName(), plan({ image: 'nobody/made-this' }), never)).toMatchObject({
    kind: 'no-image',
  });
  expect(await engine.create('x', plan(), never)).toMatchObject({ kind: 'refused' });
  expect(await engine.start(name, never)).toMatchObject({
    kind: 'refused',
    why: expect.stringContaining('no-such-program'),
  });
  const binds = ['/nobody/made/this:/data:nonsense'];
  expect(await engine.create(docker.newName(), plan({ binds }), never)).toMatchObject({ kind: 'refused' });
  const lost = await made(engine, docker, { network: 'nobody-made-this' });
  expect(await engine.start(lost, never)).toMatchObject({ kind: 'refused' });
  const guest = await made(engine, docker, { network: 'container:nobody-made-this' });
  expect(await engine.start(guest, never)).toMatchObject({ kind: 'refused' });
  expect(await engine.imageOf('keepwell-test', never)).toEqual({
    kind: 'found',
    id: expect.stringMatching(/^sha256:/),
  });
  expect(await engine.imageOf('nobody/made-this:1', never)).toEqual({ kind: 'missing' });
});

test('what a container writes is told with its time, followed to its end, and gone on with behind the last piece', async ({
  skip,
}) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const long = 40_000;
  const script = `echo out; echo err >&2; head -c ${long} /dev/zero | tr "\\0" x; echo; echo; printf end`;
  const id = await made(engine, docker, { command: ['sh', '-c', script] });
  const pieces: { text: string; at: string }[] = [];
  const onPiece = (piece: Buffer, at: string) => void pieces.push({ text: piece.toString(), at });
  await engine.start(id, never);
  expect(await engine.logs(id, { after: null, follow: true, onPiece }, never)).toEqual({ kind: 'done' });
  // Docker 20.10 may say that this is all before the last piece is written: whoever wants all asks once more.
  await waitFor('the last piece', async () => {
    await engine.logs(id, { after: pieces.at(-1)?.at ?? null, follow: false, onPiece }, never);
    return pieces.some(({ text }) => text === 'end');
  });
  const whole = pieces.map(({ text }) => text).join('');
  expect(whole.replace('out\n', '').replace('err\n', '')).toBe(`${'x'.repeat(long)}\n\nend`);
  const after = pieces.find(({ text }) => text.endsWith('x\n'))?.at ?? '';
  pieces.length = 0;
  await engine.logs(id, { after, follow: false, onPiece }, never);
  expect(
    pieces
      .map(({ text }) => text)
      .join('')
      .replace('err\n', ''),
  ).toBe('\nend');
});

test('networks are made, found by their label and removed', async ({ skip }) => {
  const docker = need(skip);
  const engine = clientOf(docker);
  const name = docker.newName();
  const network = { name, labels: { 'keepwell.owner': name }, internal: true };
  const created = await engine.createNetwork(network, never);
  if (created.kind !== 'created') throw new Error(JSON.stringify(created));
  expect(await engine.createNetwork(network, never)).toMatchObject({ kind: 'name-taken' });
  expect(await engine.networks([`keepwell.owner=${name}`], never)).toEqual({
    kind: 'listed',
    items: [{ id: created.id, name, createdAt: expect.any(Number), labels: { 'keepwell.owner': name } }],
  });
  const id = await made(engine, docker, { network: name });
  expect(await engine.start(id, never)).toEqual({ kind: 'done' });
  expect((await seen(engine, id)).setup.networks).toEqual([name]);
  expect(await engine.removeNetwork(created.id, never)).toMatchObject({ kind: 'refused' });
  await engine.remove(id, never);
  expect(await engine.removeNetwork(created.id, never)).toEqual({ kind: 'done' });
  expect(await engine.removeNetwork(created.id, never)).toEqual({ kind: 'missing' });
});
