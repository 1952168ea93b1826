import { describe, expect, test } from 'vitest';
import { loadCampaignFromText } from '../../../src/config/campaign-load.ts';
import type { ConfigError } from '../../../src/config/problem.ts';

const load = (text: string, env: Record<string, string> = {}) =>
  loadCampaignFromText({ path: '/nowhere/lab/night.yaml', text }, { env }).spec;

function problems(text: string): readonly string[] {
  try {
    load(text);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map(
      ({ line, column, path, message, hint }) => `${line}:${column} ${path}: ${message}${hint ? ` | ${hint}` : ''}`,
    );
  }
}

const FULL = `campaign: night-run
compose: { file: docker-compose.yml, project_dir: . }
command: [lem, experiment, "{config}", --yes]
experiments:
  - { name: llama-fp16, service: pytorch, config: configs/llama-fp16.yaml, env: { SEED: "\${SEED:-1}" } }
  - matrix: { service: [pytorch, vllm], config: [configs/a.yaml, configs/b.yaml] }
retries: 2
timeout: 2h
health: { gpu_memory_threshold_pct: 90, max_restarts: 3, every: experiment }
cool_down: 10s
on_failure: continue
artifacts: [ { from: /app/results, to: "results/{name}" } ]
`;

describe('a campaign file', () => {
  test('of the design is read as it is meant', () => {
    const spec = load(FULL);
    expect(spec).toMatchObject({
      name: 'night-run',
      composeFile: '/nowhere/lab/docker-compose.yml',
      projectDir: '/nowhere/lab',
      health: { gpuMemoryThresholdPct: 90, maxRestarts: 3, everyMs: null },
      coolDownMs: 10_000,
      onFailure: 'continue',
      artifacts: [{ from: '/app/results', to: '/nowhere/lab/results/{name}' }],
    });
    expect(spec.experiments.map(({ name, service }) => `${name} ${service}`)).toEqual([
      'llama-fp16 pytorch',
      'pytorch-a pytorch',
      'pytorch-b pytorch',
      'vllm-a vllm',
      'vllm-b vllm',
    ]);
    expect(spec.experiments[0]).toMatchObject({
      command: ['lem', 'experiment', 'configs/llama-fp16.yaml', '--yes'],
      env: { SEED: '1' },
      timeoutMs: 7_200_000,
      retries: 2,
    });
  });

  test('says little, and everything else is as documented', () => {
    const spec = load('campaign: c\nexperiments: [{ service: gpu, config: a b.yaml }]');
    expect(spec.experiments).toEqual([
      {
        name: 'gpu-a-b',
        config: 'a b.yaml',
        service: 'gpu',
        command: ['lem', 'experiment', 'a b.yaml', '--yes'],
        env: {},
        timeoutMs: 7_200_000,
        retries: 2,
      },
    ]);
    expect(spec).toMatchObject({ composeFile: '/nowhere/lab/docker-compose.yml', coolDownMs: 10_000 });
  });

  test('a matrix over variables makes one experiment for each value, with names of their own', () => {
    const spec = load(
      'campaign: c\ncommand: [run, "{name}"]\nexperiments: [{ service: gpu, env: { A: "x" }, matrix: { env: { SEED: ["1", "2"], LR: ["0.1", "0,1"] } } }]',
    );
    expect(spec.experiments.map(({ name }) => name)).toEqual(['gpu-1-0.1', 'gpu-1-0-1', 'gpu-2-0.1', 'gpu-2-0-1']);
    expect(spec.experiments[3]).toMatchObject({ env: { A: 'x', SEED: '2', LR: '0,1' }, command: ['run', 'gpu-2-0-1'] });
  });

  test('no name has the value of a secret: not of one in the matrix, and not of one that another value or a config contains', () => {
    const spec = load(
      'campaign: c\ncommand: [run]\nexperiments: [{ service: s, config: "x/of-hunter-22.yaml", env: { DB_PASSWORD: hunter-22 }, matrix: { env: { API_KEY: [k-one-1234, k-two-1234], URL: ["http://h/hunter-22", plain] } } }]',
    );
    const names = spec.experiments.map(({ name }) => name);
    expect(names).toEqual([
      's-of--redacted--api_key-1-url-1',
      's-of--redacted--api_key-1-plain',
      's-of--redacted--api_key-2-url-1',
      's-of--redacted--api_key-2-plain',
    ]);
    expect(spec.experiments[3]).toMatchObject({ env: { API_KEY: 'k-two-1234', URL: 'plain' } });
  });

  test('derived names never meet each other or a given one', () => {
    const spec = load(
      'campaign: c\nexperiments: [{ service: s, config: x/a.yaml }, { name: s-a, service: s, config: b }, { service: s, config: y/a.yml }]',
    );
    expect(spec.experiments.map(({ name }) => name)).toEqual(['s-a-2', 's-a', 's-a-3']);
  });

  test('what a placeholder is filled with is one argument and is not looked at again', () => {
    const spec = load(
      'campaign: c\ncommand: [run, "--c={config}"]\nexperiments: [{ name: n, service: s, config: "{name} -x" }]',
    );
    expect(spec.experiments[0]?.command).toEqual(['run', '--c={name} -x']);
  });
});

describe('a campaign file with mistakes', () => {
  test('is told all of them at once, each with its place', () => {
    const text = `campaign: Night Run
experiment: []
experiments:
  - { name: a, service: gpu }
  - { name: b, service: "g p", config: x, retries: -1 }
  - { name: c, config: x, environment: { A: b } }
timeout: 30
`;
    expect(problems(text)).toEqual([
      '1:11 campaign: "Night Run" is not a valid name | Use a-z, 0-9, dot, dash and underscore, starting with a letter or digit, at most 63 characters, no "..". For example: night-run',
      '2:1 experiment: unknown key "experiment" | Did you mean "experiments"?',
      '4:5 experiments[0]: the command needs {config}, and there is no config | Write: config: configs/a.yaml   or give another command',
      '5:25 experiments[1].service: "g p" is not the name of a compose service | Use the name as it stands under "services:" in the compose file.',
      expect.stringMatching(/^5:\d+ experiments\[1\]\.retries: must be a whole number from 0 to 100, not -1/),
      '6:5 experiments[2]: the service is missing | Write: service: pytorch',
      expect.stringContaining('unknown key "environment" | Keepwell\'s word for "environment" is env.'),
      expect.stringContaining('7:10 timeout: must be a duration, not "30"'),
    ]);
  });

  test.each([
    [
      'a name given twice',
      'experiments: [{ name: a, service: s, config: x }, { name: a, service: s, config: y }]',
      'is the name of another experiment already',
    ],
    [
      'a matrix with a name',
      'experiments: [{ name: a, matrix: { service: [s], config: [x] } }]',
      'cannot all have this name',
    ],
    [
      'a matrix that makes nothing',
      'experiments: [{ matrix: { service: [], config: [x] } }]',
      'one of its lists is empty',
    ],
    [
      'a matrix that makes too much',
      `experiments: [{ service: s, config: x, matrix: { env: { A: [${Array(101).fill('"1"')}], B: [${Array(101).fill('"1"')}] } } }]`,
      'these are 10201 experiments',
    ],
    ['a mistyped placeholder', 'command: [run, "{confg}"]\nexperiments: [{ service: s }]', 'Did you mean {config}?'],
    ['no experiments', 'experiments: []', 'there are no experiments'],
    [
      'artifacts that overwrite each other',
      'experiments: [{ service: s, config: x }, { service: s, config: y }]\nartifacts: [{ from: /r, to: out }]',
      'Write: to: out/{name}',
    ],
    [
      'artifacts from nowhere',
      'experiments: [{ service: s, config: x }]\nartifacts: [{ from: r, to: out }]',
      'must be an absolute path in the container',
    ],
  ])('%s', (_name, text, expected) => {
    const found = problems(`campaign: c\n${text}`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test('that is a configuration is told so', () => {
    expect(problems('components: { api: { process: { command: [a] } } }')).toEqual([
      '1:1 components: this is a configuration, not a campaign file | Start it with: keepwell up',
    ]);
  });
});

test('a mistake says how the file can be tried without starting anything', () => {
  const load = () => loadCampaignFromText({ path: '/lab/night.yaml', text: 'campaign: c\n' }, { env: {}, cwd: '/lab' });
  expect(load).toThrow(/^The campaign has \d+ problems?:\nnight\.yaml:/);
  expect(load).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('"keepwell campaign run FILE --dry-run" checks') }),
  );
});
