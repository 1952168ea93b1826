/** An image that is built anew while a container of the old one runs. */
import { expect, test } from 'vitest';
import { type TestEngine, useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const engineFor = useEngine();

/** Makes an image whose containers say this, and gives it that name; the name is taken from the image that had it. */
async function build(docker: TestEngine, image: string, says: string): Promise<void> {
  const maker = docker.newName();
  await docker.create(maker, { command: ['true'] });
  const [repo, tag] = image.split(':');
  const script = `trap "exit 0" TERM; echo ${says}; while :; do sleep 0.1; done`;
  await docker.call('POST', `/commit?container=${maker}&repo=${repo}&tag=${tag}`, { Cmd: ['sh', '-c', script] });
}

test('is said to be outdated in status, is used at up, restart and start, and restart --recreate makes a container anew in any case', async ({
  skip,
}) => {
  const docker = engineFor(skip);
  const name = docker.newName();
  const image = `${name}:dev`;
  await build(docker, image, 'version 1');
  await using project = new TestProject(
    `name: ${name}\ncomponents:\n  app: { container: { image: "${image}", network: none } }\n`,
    docker.env,
  );
  const versions = () => project.log('app').match(/version \d/g);
  const container = async () => (await project.component('app')).container_details?.id;
  try {
    await project.ok('up');
    const first = await container();
    expect(await project.component('app')).toMatchObject({ note: null, container_details: { image_outdated: false } });
    await project.ok('up');
    await project.ok('restart', 'app');
    expect(await container()).toBe(first);

    await build(docker, image, 'version 2');
    const outdated = await project.until('app', 'outdated', ({ note }) => note !== null);
    expect(outdated).toMatchObject({ ready: true, container_details: { image_outdated: true } });
    expect(outdated.note).toBe(`its image ${image} is newer than its container: "keepwell up app" uses the new one`);
    expect(await project.ok('status', 'app', '--verbose')).toContain(`${image} (outdated`);
    await project.ok('up');
    const second = await container();
    expect(second).not.toBe(first);
    expect(await project.component('app')).toMatchObject({
      ready: true,
      note: null,
      last_restart: { reason: 'its image was built or fetched anew' },
    });

    await build(docker, image, 'version 3');
    await project.ok('restart', 'app');
    const third = await container();
    await build(docker, image, 'version 4');
    await project.ok('stop', 'app');
    await project.ok('start', 'app');
    const fourth = await container();
    await project.ok('restart', 'app', '--recreate');
    const fifth = await container();
    expect(new Set([first, second, third, fourth, fifth]).size).toBe(5);
    await waitFor('all to be in the log', () => versions()?.length === 6);
    expect(versions()).toEqual([1, 1, 2, 3, 4, 4].map((version) => `version ${version}`));
  } finally {
    await project.ok('down');
    for (const { Id } of await docker.labelled(`keepwell.project=${name}`)) await docker.remove(Id);
    await docker.call('DELETE', `/images/${image}?force=1`);
  }
});
