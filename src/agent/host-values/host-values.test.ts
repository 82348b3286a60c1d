import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { file } from '#contract/paths.ts';
import { ModelHost, overlayNetwork } from '../../../test/kit/model-host.ts';
import { createHostValues } from './host-values.ts';
import type { Metadata } from './metadata.ts';

const never = new AbortController().signal;

function bench() {
  const host = new ModelHost();
  let asked = 0;
  let reachable = true;
  const metadata: Metadata = {
    ask: async ({ method }) => {
      asked += 1;
      if (!reachable) throw new Error('no route');
      return { status: 200, headers: { 'metadata-flavor': 'Google' }, text: method === 'PUT' ? 'token' : 'cloud-name' };
    },
  };
  const values = createHostValues(host, { clock: host.clock, metadata });
  return { host, values, asked: () => asked, reach: (is: boolean) => (reachable = is) };
}

test('finds the address of the node', async () => {
  expect(await bench().values.resolve('nodeIP', never)).toBe('10.0.0.5');
});

test('finds another address once it has changed', async () => {
  const { host, values } = bench();
  await values.resolve('nodeIP', never);
  host.state.adapters[0]?.addresses.unshift('10.0.0.9/24');
  expect(await values.resolve('nodeIP', never)).toBe('10.0.0.9');
});

const fqdns: [string, string, string][] = [
  ['with a domain', 'example.com', 'win-1.example.com'],
  ['without a domain', '', 'win-1'],
];
for (const [name, suffix, want] of fqdns) {
  test(`resolves the FQDN of a host ${name}`, async () => {
    const { host, values } = bench();
    host.state.dnsSuffix = suffix;
    expect(await values.resolve('fqdn', never)).toBe(want);
  });
}

test('rejects a value that is not a host name', async () => {
  const { host, values } = bench();
  host.state.hostName = 'a&b';
  await expect(values.resolve('fqdn', never)).rejects.toMatchObject({
    code: 'HOST_VALUE_UNKNOWN',
    message: expect.stringContaining('"a&b"'),
  });
});

test('requests the cloud name once', async () => {
  const { values, asked, reach } = bench();
  expect(await values.resolve('gcpHostname', never)).toBe('cloud-name');
  reach(false);
  expect([await values.resolve('gcpHostname', never), asked()]).toEqual(['cloud-name', 1]);
});

test('requests the name of each cloud separately', async () => {
  const { values, asked } = bench();
  await values.resolve('gcpHostname', never);
  expect([await values.resolve('awsLocalHostname', never), asked()]).toEqual(['cloud-name', 3]);
});

test('requests the name again after a failure', async () => {
  const { values, reach } = bench();
  reach(false);
  await expect(values.resolve('awsLocalHostname', never)).rejects.toThrow('no route');
  reach(true);
  expect(await values.resolve('awsLocalHostname', never)).toBe('cloud-name');
});

test('uses HTTP by default', async () => {
  const host = new ModelHost();
  const values = createHostValues(host, { clock: host.clock });
  const aborted = AbortSignal.abort(new Error('stopping'));
  await expect(values.resolve('gcpHostname', aborted)).rejects.toThrow('stopping');
});

test('gives the boot ID', async () => expect(await bench().values.bootId()).toBe('boot-1'));

test('writes the files of the network', async () => {
  const { host, values } = bench();
  host.state.networks = [overlayNetwork()];
  const annotations = { [nodeAnnotation.hybridOverlaySubnet]: '10.132.1.0/24' };
  const object = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', annotations } };
  const preparation = {
    kind: 'cni-and-kube-proxy' as const,
    arguments: { serviceCIDR: '172.30.0.0/16', subnetAnnotation: nodeAnnotation.hybridOverlaySubnet },
  };
  const prepare = () => values.prepare(preparation, { name: 'n', object }, never);
  expect([await prepare(), await prepare()]).toEqual([true, false]);
});

test('excludes a program from Defender, for which no service has to be restarted, and reverts it', async () => {
  const { host, values } = bench();
  host.runningPrograms.add('msmpeng');
  host.scriptOutputs = { [`Add-MpPreference -ExclusionProcess '${file.containerd}' -ErrorAction Stop`]: '' };
  const preparation = { kind: 'defender-exclusion' as const, arguments: { path: file.containerd } };
  expect(await values.prepare(preparation, undefined, never)).toBe(false);
  expect(host.log.some(call => call.startsWith('run Add-MpPreference'))).toBe(true);
  host.scriptOutputs = { [`Remove-MpPreference -ExclusionProcess '${file.containerd}' -ErrorAction Stop`]: '' };
  await values.revertPreparations(never);
  expect(host.log.some(call => call.startsWith('run Remove-MpPreference'))).toBe(true);
});

test('requires the path of the program', async () => {
  const { values } = bench();
  const preparation = { kind: 'defender-exclusion' as const, arguments: {} };
  await expect(values.prepare(preparation, undefined, never)).rejects.toMatchObject({ code: 'SERVICES_MALFORMED' });
});
