import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { type Service, service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rebootHost } from '../host-changes.ts';
import { createHostValues } from '../host-values/host-values.ts';
import { reconcileHost } from './reconcile-host.ts';

const kubelet = service({ name: 'kubelet', command: 'kubelet.exe', bootstrap: true });
const overlay = service({ name: 'overlay', command: 'overlay.exe', dependencies: ['kubelet'], priority: 1 });
const options = { caBundle: '', readyPatience: { everyMs: 1000, limitMs: 5000 } };

function hostFor(services: Service[]): ModelHost {
  const host = new ModelHost();
  host.node = { name: 'win-1', annotations: { [nodeAnnotation.desiredVersion]: 'v2' }, ready: true };
  const manifest = { services, files: [], environment: {}, watchedEnvironment: [] };
  host.configMaps = [{ name: 'windows-services-v2', created: '2026-01-01T00:00:00Z', data: printManifest(manifest) }];
  return host;
}

const reboots: [about: string, ordered: boolean, noticed: number][] = [
  ['that nobody ordered is noticed once', false, 1],
  ['that was ordered is not noticed', true, 0],
];
test.each(reboots)('a reboot %s; the version is confirmed again', async (_, ordered, noticed) => {
  const host = hostFor([kubelet, overlay]);
  let notices = 0;
  const look = { onUnplannedReboot: () => void (notices += 1) };
  await reconcileHost(host, { ...options, ...look }, host.waiting());
  if (ordered) await rebootHost(host.bootId, 0, host);
  await host.reboot();
  for (const _again of [1, 2]) await reconcileHost(host, { ...options, ...look }, host.waiting());
  expect(notices).toBe(noticed);
  expect(host.report.confirmedBoot).toBe(host.bootId);
  expect((await host.services.list()).map(({ state }) => state)).toEqual(['running', 'running']);
});

test('a reboot loses networks and routes, and the next pass restores them', async () => {
  const subnetAnnotation = 'subnet';
  const route = { kind: 'host-route', arguments: { address: '169.254.169.254' } } as const;
  const network = {
    kind: 'cni-and-kube-proxy',
    arguments: { serviceCIDR: '172.30.0.0/16', subnetAnnotation },
  } as const;
  const proxy = service({ name: 'kube-proxy', command: 'proxy.exe', prepare: [network, route] });
  const host = hostFor([proxy]);
  Object.assign(host.node?.annotations ?? {}, { [subnetAnnotation]: '10.132.1.0/24' });
  // The real preparations, not those of the model.
  Object.assign(host.host, createHostValues(host, { clock: host.clock }));
  const run = () => reconcileHost(host, options, host.waiting());
  const seen = () => [
    host.state.endpoints.map(({ name, networkId }) => [name, networkId]),
    host.state.routes.map(({ destination, gateway }) => [destination, gateway]),
  ];
  host.overlayAfter = 0;
  await run();
  const before = seen();
  await host.reboot();
  expect(seen()).not.toEqual(before);
  host.overlayAfter = 0;
  expect(await run()).toEqual({ did: 'configure', version: 'v2' });
  expect(seen()).toEqual(before);
});
