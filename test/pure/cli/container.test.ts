import { describe, expect, test } from 'vitest';
import { containerRows, limitsText, noteOf } from '../../../src/cli/print/status.ts';
import { portText } from '../../../src/supervision/rules/container-health.ts';
import { view } from './views.ts';

const details = {
  id: '0123456789abcdef'.repeat(4),
  image: 'acme/app:1',
  image_outdated: false,
  health: 'unhealthy',
  health_reason: 'health check failed 3 times: exit 1: connection refused',
  ports: ['127.0.0.1:9000->9000/tcp'],
  networks: ['backend', 'bridge'],
} as const;

describe('a container in status --verbose', () => {
  test('says who it is, how Docker finds it, and how it is reached', () => {
    expect(
      containerRows(view('api', { kind: 'container', container: 'acme-app', container_details: details })),
    ).toEqual([
      ['Name:', 'acme-app (container 0123456789ab)'],
      ['Image:', 'acme/app:1'],
      ['Docker:', 'unhealthy: health check failed 3 times: exit 1: connection refused'],
      ['Ports:', '127.0.0.1:9000->9000/tcp'],
      ['Network:', 'backend, bridge'],
    ]);
  });

  test('without a health check and ports there is less to say', () => {
    const plain = { ...details, health: 'none', health_reason: null, ports: [], networks: [] } as const;
    const rows = containerRows(view('api', { container: 'acme-app', container_details: plain }));
    expect(rows.slice(2)).toEqual([
      ['Docker:', 'no health check'],
      ['Ports:', null],
      ['Network:', null],
    ]);
  });

  test('one that others run has a name, and a process has nothing', () => {
    expect(containerRows(view('db', { kind: 'external', container: 'postgres' }))).toEqual([['Name:', 'postgres']]);
    expect(containerRows(view('api'))).toEqual([]);
  });

  test('its limits are all held by Docker', () => {
    const limit = (name: 'cpus' | 'nofile', max: number) => ({ name, max, mechanism: 'docker', note: null }) as const;
    expect(limitsText({ limits: [limit('cpus', 1.5), limit('nofile', 64)] })).toBe(
      'cpus 1.5 (docker), nofile 64 (docker)',
    );
  });
});

test('a published port reads as in docker ps', () => {
  expect(portText({ hostIp: '127.0.0.1', hostPort: 80, port: 8080, protocol: 'tcp' })).toBe('127.0.0.1:80->8080/tcp');
  expect(portText({ hostIp: '::', hostPort: 53, port: 53, protocol: 'udp' })).toBe('[::]:53->53/udp');
});

test('the condition of a component is named before what is said about it, and not twice', () => {
  const away = { condition: 'engine-unreachable', note: 'the Docker Engine hangs' } as const;
  expect(noteOf(view('api', away))).toBe('engine-unreachable: the Docker Engine hangs');
  const frozen = { condition: 'frozen', note: 'frozen: no heartbeat for 1 min' } as const;
  expect(noteOf(view('api', frozen))).toBe('frozen: no heartbeat for 1 min');
});
