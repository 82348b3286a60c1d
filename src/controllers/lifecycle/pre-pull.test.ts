import { expect, test } from 'vitest';
import { configMapName } from '#contract/names.ts';
import { configMaps, namespaces, pods } from '#kube/resources.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { until } from '../../../test/kit/until.ts';

/** A host that joins while the operator waits for the DaemonSet `images/all`. */
async function joining(speed: number) {
  const lab = await startJoinLab();
  lab.host();
  const { namespace = '' } = (await lab.add()).metadata;
  const metadata = { name: configMapName.rollout, namespace };
  await lab.client.create(configMaps, { metadata, data: { prePull: 'images/all' } });
  lab.start({ clock: fastClock(speed) });
  return lab;
}

test('a new node is uncordoned when the DaemonSet of prePull is ready on it', async () => {
  const lab = await joining(20);
  await lab.client.create(namespaces, { metadata: { name: 'images' } });
  await lab.statusWhen(({ step }) => step === 'wait for images');
  expect((await lab.node())?.spec?.unschedulable).toBe(true);
  const add = async (name: string, owner: string, isReady: boolean) => {
    const owned = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid: owner };
    const metadata = { name, namespace: 'images', ownerReferences: [owned] };
    const spec = { nodeName: 'win-5', containers: [{ name: 'c', image: 'i' }] };
    await lab.client.create(pods, { metadata, spec });
    const body = { status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] } };
    await lab.client.patch(pods, name, { type: 'merge', body }, { namespace: 'images', subresource: 'status' });
  };
  await add('other', 'others', true);
  await add('pulling', 'all', false);
  await until(async () => (await lab.instance()).status?.activity?.waitsFor?.includes('images/all'));
  expect((await lab.node())?.spec?.unschedulable).toBe(true);
  await add('pulled', 'all', true);
  await lab.ready();
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
});

test('a node whose images do not come takes pods after 20 minutes, with an event', async () => {
  const lab = await joining(600);
  await lab.ready();
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  const text = 'PrePullTimeout: 10.0.0.5: DaemonSet images/all has no ready pod on Node win-5, which takes pods';
  await until(async () => (await lab.events()).some(event => event.includes(text)));
});
