/** What is refused, and what is lost, each said with its line. */
import { describe, expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import { refuseLosses, renderKubernetes } from '../../../src/kubernetes/render.ts';
import { linesOf, load } from '../config/support.ts';
import { renderText } from './support.ts';

function refusalOf(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

test('processes without an image are all named, with what to write', () => {
  const error = refusalOf(() =>
    renderText('components:\n  api: { process: { command: [./a] } }\n  web: { process: { command: [./b] } }\n'),
  );
  expect(error.code).toBe('KUBERNETES_REFUSED');
  expect(error.exitCode).toBe(2);
  expect(error.message).toBe(
    `The configuration cannot be rendered for Kubernetes:
keepwell.yaml:2:10 components.api.process: is a process, and on Kubernetes everything runs from an image
    Write beside components: kubernetes: { image: NAME:TAG }, or for it alone: kubernetes: { images: { api: NAME:TAG } }
keepwell.yaml:3:10 components.web.process: is a process, and on Kubernetes everything runs from an image
    Write beside components: kubernetes: { image: NAME:TAG }, or for it alone: kubernetes: { images: { web: NAME:TAG } }`,
  );
});

test('names that would become one are refused', () => {
  const text =
    'kubernetes: { image: "a:1" }\ncomponents:\n  a.b: { process: { command: [a] } }\n  a_b: { process: { command: [b] } }\n';
  expect(refusalOf(() => renderText(text)).message).toContain(
    'keepwell.yaml:4:3 components.a_b: "a_b" and "a.b" would both be called "a-b" on Kubernetes',
  );
});

test('a mounted file that is not there is refused', () => {
  const text = 'components:\n  a: { container: { image: "a:1", volumes: ["./nowhere/a.conf:/a.conf:ro"] } }\n';
  expect(refusalOf(() => renderText(text)).message).toContain(
    '/project/nowhere/a.conf cannot be read: there is no such',
  );
});

test('a file of variables is read only when its values are wanted, and must then be there', () => {
  const text = 'kubernetes: { image: "a:1" }\ncomponents:\n  a: { process: { command: [a], env_file: nowhere.env } }\n';
  expect(renderText(text).secrets).toEqual(['a-env-file']);
  expect(refusalOf(() => renderText(text, { secrets: 'only' })).code).toBe('KUBERNETES_FILE');
});

test('what nobody wrote is not lost, and strictness has nothing to refuse', () => {
  const text =
    'kubernetes: { image: "a:1" }\ncomponents:\n  a: { process: { command: [a] }, readiness: { tcp: 80 } }\n';
  const { losses } = renderText(text);
  expect(losses).toEqual([]);
  refuseLosses(losses, '/project');
});

test('strictness refuses with every loss', () => {
  const text =
    'kubernetes: { image: "a:1" }\ncomponents:\n  a:\n    process: { command: [a], nice: 5 }\n    limits: { pids: 5 }\n';
  const error = refusalOf(() => refuseLosses(renderText(text).losses, '/project'));
  expect([error.code, error.exitCode]).toEqual(['KUBERNETES_LOSSES', 1]);
  expect(error.message).toBe(`Kubernetes does not do all that the configuration says (2 lost):
keepwell.yaml:4:30 components.a.process.nice: there is no nice value in a pod
keepwell.yaml:5:15 components.a.limits.pids: how many processes a pod may have is set for whole nodes (kubelet: podPidsLimit)`);
});

test('a loss is said at the file that wrote it', () => {
  const text = 'kubernetes: { image: "a:1" }\ncomponents:\n  a: { process: { command: [a] } }\n';
  const over = 'components:\n  a:\n    heartbeat: { log_every: 30s }\n';
  const { losses } = renderKubernetes(load(text, { over: [over] }), { namespace: null, secrets: 'refer' });
  expect(losses.map(({ file, line, path }) => [file, line, path])).toEqual([
    ['/project/over-1.yaml', 3, 'components.a.heartbeat'],
  ]);
});

describe('what the configuration says about Kubernetes', () => {
  const beside = (keys: string): string =>
    `components: { api: { process: { command: [./a] } }, box: { container: { image: busybox } }, ext: { external: { pid_file: a } } }\n${keys}\n`;
  test.each([
    ['kubernetes: { image: "shop:1", namespace: shop, images: { api: "api:2" } }', []],
    ['kubernetes: { namespace: Shop }', ['2:26 kubernetes.namespace: "Shop" is not the name of a namespace']],
    ['kubernetes: { image: "Shop:1" }', ['2:22 kubernetes.image: "Shop:1" is not the name of an image']],
    [
      'kubernetes: shop:1',
      ['2:13 kubernetes: must be a map, not a single value | Write: kubernetes: { image: shop:1 }'],
    ],
    ['kubernetes: { ns: shop }', ['2:15 kubernetes.ns: unknown key "ns" | Keepwell\'s word for "ns" is namespace.']],
    ['kubernetes: { imges: {} }', ['2:15 kubernetes.imges: unknown key "imges" | Did you mean "images"?']],
    [
      'kubernetes: { images: { apy: "a:1" } }',
      ['2:30 kubernetes.images.apy: there is no component "apy" | Did you mean "api"?'],
    ],
    [
      'kubernetes: { images: { box: "a:1" } }',
      ['2:30 kubernetes.images.box: "box" is a container and has its own image'],
    ],
    [
      'kubernetes: { images: { ext: "a:1" } }',
      ['2:30 kubernetes.images.ext: "ext" is not a process, so it is not rendered'],
    ],
  ])('%s', (keys, expected) => {
    const lines = linesOf(beside(keys));
    expect(lines.length).toBe(expected.length);
    for (const [index, line] of expected.entries()) expect(lines[index]).toContain(line);
  });
});
