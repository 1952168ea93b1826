/** Paths in crashes: as people want to read them, and as they stay the same on every machine. */

const TEMP = /^(?:\/private)?\/(?:tmp|var\/tmp|var\/folders\/[^/]+\/[^/]+\/T|dev\/shm|run\/user\/\d+)\/(?:[^/]+\/)?/;

/** Relative to where the component runs, if it lies there. */
export function shownPath(file: string, cwd: string | undefined): string {
  const path = file.replace(/^\.\//, '');
  if (cwd === undefined || cwd === '/' || cwd === '') return path;
  const root = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return path.startsWith(root) && path.length > root.length ? path.slice(root.length) : path;
}

/** The file and its folder: where a project is installed differs from machine to machine. */
export function steadyPath(file: string, cwd: string | undefined): string {
  const path = shownPath(file.replaceAll('\\', '/'), cwd).replace(TEMP, '');
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '..')
    .slice(-2)
    .join('/');
}

/** "../b.mjs" as seen from "src/x/a.mjs". */
export function beside(file: string, relative: string): string {
  const parts = file.split('/').slice(0, -1);
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
