import { expect, test } from 'vitest';
import { parseIpv4Cidr } from '#base/ipv4.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { KubeResource } from '#kube/resource.ts';
import { nodes } from '#kube/resources.ts';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { createOverlaySubnets } from './overlay-subnets.ts';
import { Waits } from './waits.ts';

async function scene(isServed: (address: string) => boolean = () => true) {
  const clock = manualClock();
  const controller = createOverlaySubnets({ waits: new Waits(clock, 1), subnetMs: 1000, isServed });
  const api = await startLocalApi([controller], clock);
  return {
    api,
    async add(name: string, os = 'windows', annotations: Record<string, string> = {}, address = '10.0.0.1') {
      const metadata = { name, labels: { [nodeLabel.os]: os }, annotations };
      const status = { addresses: [{ type: 'InternalIP', address }] };
      api.create(nodes, { metadata, status } as KubeResource);
      await quiet(api);
    },
    async wait(ms: number) {
      await clock.advance(ms);
      await quiet(api);
    },
    subnetOf: (name: string) =>
      api.get(nodes, { namespace: '', name })?.metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet],
    macOf: (name: string) =>
      api.get(nodes, { namespace: '', name })?.metadata.annotations?.[nodeAnnotation.hybridOverlayGatewayMac],
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
}

test('a Windows node gets a subnet and the address of its gateway, after a while', async () => {
  await using made = await scene();
  await made.add('win-1');
  await made.wait(999);
  expect(made.subnetOf('win-1')).toBeUndefined();
  await made.wait(1);
  expect(made.subnetOf('win-1')).toBe('10.132.0.0/24');
  expect(made.macOf('win-1')).toMatch(/^0a:58(:[0-9a-f]{2}){4}$/);
});

test('each node gets a subnet of its own, within the network of the overlay', async () => {
  await using made = await scene();
  const names = Array.from({ length: 40 }, (_, index) => `win-${index}`);
  for (const name of names) await made.add(name);
  await made.wait(1000);
  const subnets = names.map(name => made.subnetOf(name) ?? '');
  expect(new Set(subnets).size).toBe(40);
  for (const subnet of subnets) expect(parseIpv4Cidr(subnet)?.prefixLength).toBe(24);
  expect(new Set(names.map(name => made.macOf(name))).size).toBe(40);
});

test('a subnet in use is not assigned again; a released one is', async () => {
  await using made = await scene();
  await made.add('old', 'windows', { [nodeAnnotation.hybridOverlaySubnet]: '10.132.0.0/24' });
  await made.add('new');
  await made.wait(1000);
  expect([made.subnetOf('old'), made.subnetOf('new')]).toEqual(['10.132.0.0/24', '10.132.1.0/24']);
  made.api.delete(nodes, { namespace: '', name: 'old' });
  await made.add('newer');
  await made.wait(1000);
  expect(made.subnetOf('newer')).toBe('10.132.0.0/24');
});

test('Linux nodes get none of this', async () => {
  await using made = await scene();
  await made.add('linux', 'linux');
  await made.wait(60_000);
  expect(made.subnetOf('linux')).toBeUndefined();
});

test('keeps other annotations', async () => {
  await using made = await scene();
  await made.add('win-1', 'windows', { own: 'yes' });
  await made.wait(1000);
  expect(made.api.get(nodes, { namespace: '', name: 'win-1' })?.metadata.annotations).toMatchObject({ own: 'yes' });
});

test('a host with the fault no-subnet never gets one', async () => {
  await using made = await scene(address => address !== '10.0.0.9');
  await made.add('win-1', 'windows', {}, '10.0.0.9');
  await made.add('win-2');
  await made.wait(60_000);
  expect([made.subnetOf('win-1'), made.subnetOf('win-2')]).toEqual([undefined, '10.132.0.0/24']);
});

test('a recreated Node waits again', async () => {
  await using made = await scene();
  await made.add('win-1');
  await made.wait(1000);
  made.api.delete(nodes, { namespace: '', name: 'win-1' });
  await made.wait(10_000);
  await made.add('win-1');
  await made.wait(999);
  expect(made.subnetOf('win-1')).toBeUndefined();
  await made.wait(1);
  expect(made.subnetOf('win-1')).toBeDefined();
});
