import { expect, test } from 'vitest';
import { dir } from '#contract/paths.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import type { ServiceState } from './ports.ts';
import { wipeCniState } from './cni-state.ts';

const lease = `${dir.cniState}\\networks\\OVNKubernetesHybridOverlayNetwork\\10.132.0.7`;
const states: [ServiceState | 'absent', wiped: boolean][] = [
  ['absent', true],
  ['stopped', true],
  ['running', false],
  ['start-pending', false],
  ['paused', false],
];
for (const [state, wiped] of states) {
  test(`${wiped ? 'forgets' : 'keeps'} addresses of containers while containerd is ${state}`, async () => {
    const host = new ModelHost();
    host.fileTexts.set(lease, 'container');
    if (state !== 'absent') host.services.install('containerd', {}, state);
    expect(await wipeCniState(host.files, host.services)).toBe(wiped);
    expect([host.fileTexts.has(lease), host.files.directories.get(dir.cniState)]).toEqual([
      !wiped,
      wiped ? 'secret' : undefined,
    ]);
  });
}

test('does not go through a link', async () => {
  const host = new ModelHost();
  host.files.rights.plantLink(dir.cniState);
  await wipeCniState(host.files, host.services);
  expect(await host.files.inspect(dir.cniState)).toMatchObject({ is: 'directory' });
});
