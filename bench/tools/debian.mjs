/** Programs of a Debian package: the installed ones, or the package unpacked (not installed, so its services never run) into the benchmark's own directory. */
import { readdirSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { run } from '../lib/command.mjs';

/**
 * Resolves with the package's `version`, with the variables (`env`) by which its programs are found, by us and by each other, and their
 * libraries and modules, and with `inPlace(words)`: the command that runs these words where the package lies in /usr as if it were installed, for
 * programs that know their place by heart.
 */
export async function packaged(world, name, programs) {
  const { PATH } = process.env;
  if (await areInstalled(programs))
    return { version: await installedVersion(name), env: { PATH }, inPlace: (words) => words };
  const { root, version } = await unpacked(world, name);
  const { stdout } = await run('find', [root, '-type', 'f']);
  const foldersOf = (isWanted) => [...new Set(stdout.split('\n').filter(isWanted).map(dirname))].join(delimiter);
  const env = {
    PATH: [foldersOf((path) => /\/s?bin\/[^/]+$/.test(path) && programs.includes(basename(path))), PATH].join(
      delimiter,
    ),
    LD_LIBRARY_PATH: foldersOf((path) => /\.so[.\d]*$/.test(path)),
    PYTHONPATH: /^.*\/dist-packages(?=\/)/m.exec(stdout)?.[0],
  };
  return {
    version,
    env: Object.fromEntries(Object.entries(env).filter(([, folders]) => folders)),
    inPlace: (words) => ['unshare', '--mount', '/bin/sh', '-c', OVERLAY, join(root, 'usr'), ...words],
  };
}

/** Seen by the one that is started and its children only; the pid stays. */
const OVERLAY = 'mount -t overlay -o "lowerdir=$0:/usr" overlay /usr && unset LD_LIBRARY_PATH && exec "$@"';

async function areInstalled(programs) {
  try {
    await run('sh', ['-c', programs.map((program) => `command -v ${program}`).join(' && ')]);
    return true;
  } catch {
    return false;
  }
}

const installedVersion = async (name) => bare(/^Version: (.*)/m.exec((await run('dpkg', ['-s', name])).stdout)[1]);

/** Without Debian's epoch and revision. */
const bare = (version) => version.replace(/^\d+(:|%3a)/, '').replace(/-[^-]*$/, '');

/** The package and whatever it depends on that is not installed here. */
async function unpacked(world, name) {
  const dir = world.newDir(`${name}-package`);
  await fetched(world, dir, name).catch(async (error) => {
    if (process.getuid?.() !== 0) throw error;
    await apt(world, dir, 'update');
    await fetched(world, dir, name);
  });
  const archives = readdirSync(dir).filter((file) => file.endsWith('.deb'));
  for (const archive of archives) await run('dpkg-deb', ['-x', archive, 'root'], { cwd: dir });
  const [, version] = archives.find((file) => file.startsWith(`${name}_`)).split('_');
  return { root: join(dir, 'root'), version: bare(version) };
}

async function fetched(world, dir, name) {
  const { stdout } = await apt(world, dir, '--print-uris', '--no-install-recommends', 'install', name);
  const names = stdout.split('\n').flatMap((line) => /^'\S+' ([^_]+)_/.exec(line)?.[1] ?? []);
  await apt(world, dir, 'download', ...names);
}

const apt = (world, dir, ...args) =>
  run('apt-get', ['-qq', '-y', ...args], { cwd: dir, env: { ...process.env, ...world.mark } });
