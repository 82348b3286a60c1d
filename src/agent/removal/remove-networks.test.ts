import { expect, test } from 'vitest';
import { hnsNetwork, managedDescription, vipEndpoint } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import { ModelHost, overlayNetwork } from '../../../test/kit/model-host.ts';
import { removeNetworks } from './remove-networks.ts';

const never = new AbortController().signal;
const remove = (host: ModelHost) => removeNetworks(host, never);
const address = `${dir.cniState}\\networks\\overlay\\10.132.1.2`;

/** With the networks of the hybrid overlay, one of another program, and endpoints on them. */
async function networkedHost(): Promise<ModelHost> {
  const host = new ModelHost();
  host.state.networks = [
    overlayNetwork({ id: 'base', name: hnsNetwork.base }),
    overlayNetwork({ id: 'overlay' }),
    overlayNetwork({ id: 'nat', name: 'nat' }),
  ];
  const vip = await host.network.createEndpoint('overlay', vipEndpoint);
  await host.network.attachToHost(vip.id);
  await host.network.createEndpoint('overlay', 'pod');
  await host.network.createEndpoint('nat', vipEndpoint);
  host.fileTexts.set(address, 'container');
  host.log.length = 0;
  return host;
}

test('removes the networks of the overlay with their endpoints and addresses, and nothing else', async () => {
  const host = await networkedHost();
  expect(await remove(host)).toEqual({ removed: [vipEndpoint, 'pod', hnsNetwork.overlay, hnsNetwork.base], left: [] });
  expect((await host.network.networks()).map(({ name }) => name)).toEqual(['nat']);
  expect((await host.network.endpoints()).map(({ networkId }) => networkId)).toEqual(['nat']);
  expect([host.state.adapters.length, host.fileTexts.has(address)]).toEqual([1, false]);
});

test('changes nothing the second time', async () => {
  const host = await networkedHost();
  await remove(host);
  host.log.length = 0;
  expect([await remove(host), host.log]).toEqual([{ removed: [], left: [] }, []]);
});

test('removes the endpoint of kube-proxy whose network is gone', async () => {
  const host = await networkedHost();
  host.state.networks = host.state.networks.filter(({ id }) => id === 'nat');
  expect((await remove(host)).removed).toEqual([vipEndpoint]);
});

test('reaches the same end when it is killed before each of its changes', async () => {
  const whole = await networkedHost();
  await remove(whole);
  for (const [index] of whole.log.entries()) {
    const host = await networkedHost();
    host.before = () => {
      if (host.log.length === index) throw new Error('killed');
    };
    await expect(remove(host)).rejects.toThrow('killed');
    host.before = () => undefined;
    await remove(host);
    expect([host.state.networks, host.state.endpoints]).toEqual([whole.state.networks, whole.state.endpoints]);
    expect(host.fileTexts.has(address)).toBe(false);
  }
});

test('changes nothing while services of the agent exist', async () => {
  const host = await networkedHost();
  host.services.install('kubelet', { description: managedDescription('kubelet') });
  await expect(remove(host)).rejects.toMatchObject({ code: 'CLEANUP_INCOMPLETE' });
  expect(host.log).toEqual([]);
});
