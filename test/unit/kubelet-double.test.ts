import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { windowsTaint } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { type Condition, findCondition } from '../../src/base/condition.ts';
import { payloadKubeletVersion } from '../../src/contract/version.ts';
import { kubeletConfig } from '../../src/node/desired/kubelet-config.ts';
import { servicesManifest } from '../../src/node/desired/services.ts';
import { TestCa } from '../kit/certificates.ts';
import { usedLife } from '../../src/sandbox/machines/kubelet/credentials.ts';
import { parseFlags } from '../../src/sandbox/machines/kubelet/flags.ts';
import { newNode } from '../../src/sandbox/machines/kubelet/node-object.ts';
import { conditionsOf } from '../../src/sandbox/machines/kubelet/readiness.ts';
import { readSettings } from '../../src/sandbox/machines/kubelet/settings.ts';
import { readFaults } from '../kit/winhost/kubelet/faults.ts';

/** Arguments of kubelet.exe in the service of the operator. */
function words(platform: string, debug = false): string[] {
  const { services } = servicesManifest(
    {
      platform,
      apiServerUrl: 'https://api:6443',
      network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
      kubeletArguments: { 'cloud-provider': 'external', 'cloud-config': '/etc/kubernetes/cloud.conf' },
      proxy: {},
      kubeletVersion: payloadKubeletVersion,
    },
    { debug, logRotation: { fileSize: '100M', fileAge: '1h', flushInterval: '5s' } },
  );
  const { command = '' } = services.find(({ name }) => name === 'kubelet') ?? {};
  const [, rest = ''] = command.split(`${file.kubelet} `);
  return rest.replace('NODE_IP', '10.0.0.7').replace('HOSTNAME_OVERRIDE', 'Cloud-7').split(' ');
}

for (const platform of ['AWS', 'Azure', 'GCP', 'VSphere', 'Nutanix', 'None']) {
  test(`parses the command line of our service on ${platform}`, () => {
    expect(parseFlags(words(platform, platform === 'GCP'))).toEqual({
      config: file.kubeletConfig,
      bootstrapKubeconfig: file.bootstrapKubeconfig,
      kubeconfig: file.kubeconfig,
      certDir: dir.kubeletPki,
      isService: true,
      labels: { 'node.openshift.io/os_id': 'Windows' },
      nodeIp: '10.0.0.7',
      hostnameOverride: ['AWS', 'GCP', 'VSphere'].includes(platform) ? 'Cloud-7' : undefined,
      isOfCloud: true,
    });
  });
}

const plain = ['--config=c', '--bootstrap-kubeconfig=b', '--kubeconfig=k', '--cert-dir=d', '--node-ip=10.0.0.7'];

const accepted: [string, string[], object][] = [
  ['values apart from their flags', ['--hostname-override', 'x'], { hostnameOverride: 'x' }],
  ['no service', [], { isService: false }],
  ['no cloud', [], { isOfCloud: false }],
  ['a service that is not', ['--windows-service=false'], { isService: false }],
  ['several labels', ['--node-labels=a=1,b/c='], { labels: { a: '1', 'b/c': '' } }],
  ['no labels', ['--node-labels='], { labels: {} }],
  ['a label with an equals sign in it', ['--node-labels=a=b=c'], { labels: { a: 'b=c' } }],
  ['the last of two values', ['--config=other'], { config: 'other' }],
];
for (const [name, more, want] of accepted) {
  test(`accepts ${name}`, () => expect(parseFlags([...plain, ...more])).toMatchObject(want));
}

const refused: [string, string[], RegExp][] = [
  ['a flag that no kubelet has', [...plain, '--no-such-flag=1'], /unknown flag: --no-such-flag/],
  ['a word that is no flag', [...plain, 'run'], /unknown command "run"/],
  ['an unresolved variable', [...plain, '--node-ip=NODE_IP'], /bad --node-ip "NODE_IP"/],
  ['a flag without its value', plain.slice(1), /flag needs an argument: --config/],
  ['an empty value', [...plain, '--cert-dir='], /flag needs an argument: --cert-dir/],
  ['a value that is missing at the end', [...plain, '--kubeconfig'], /flag needs an argument: --kubeconfig/],
  ['a label without a value', [...plain, '--node-labels=a'], /malformed pair "a", expect string=string/],
];
for (const [name, given, message] of refused) {
  test(`rejects ${name}`, () => expect(() => parseFlags(given)).toThrow(message));
}

test('reads the configuration that the operator writes', () => {
  expect(readSettings(kubeletConfig('172.30.0.10'), 'x')).toEqual({
    taints: [windowsTaint],
    maxPods: 250,
    requestsServingCertificate: true,
    rotatesCertificates: true,
  });
});

const minimal = 'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n';
test('has the defaults of a kubelet for missing fields', () => {
  expect(readSettings(minimal, 'x')).toMatchObject({ taints: [], maxPods: 110, requestsServingCertificate: false });
});

for (const text of [undefined, '', '{}', minimal.replace('v1beta1', 'v1'), minimal.replace('Kubelet', '')]) {
  test(`does not start with the configuration ${JSON.stringify(text)}`, () => {
    expect(() => readSettings(text, 'C:\\k\\kubelet.conf')).toThrow(/failed to load kubelet config file, path: C:/);
  });
}

const none = { neverReady: false };
const ready = (conditions: readonly Condition[]) => findCondition(conditions, 'Ready');

const healths: [string, boolean, boolean, boolean, string, RegExp][] = [
  ['all is well', true, true, false, 'True', /^kubelet is posting ready status$/],
  ['there is no network', true, false, false, 'False', /NetworkPluginNotReady.*cni plugin not initialized$/],
  ['containerd is down', false, true, false, 'False', /container runtime is down/],
  ['neither is there', false, false, false, 'False', /container runtime is down/],
  ['it must never be ready', true, true, true, 'False', /may not have completed yet/],
];
for (const [name, isRuntimeUp, hasNetwork, neverReady, status, message] of healths) {
  test(`reports ${status} when ${name}`, () => {
    const found = ready(conditionsOf([], { isRuntimeUp, hasNetwork }, { neverReady }, 0));
    expect(found).toMatchObject({ status, message: expect.stringMatching(message) });
    expect(found?.reason).toBe(status === 'True' ? 'KubeletReady' : 'KubeletNotReady');
  });
}

test('updates the transition time only with the status, the heartbeat always, and keeps other conditions', () => {
  const foreign: Condition = { type: 'NetworkUnavailable', status: 'False' };
  const health = fc.record({ isRuntimeUp: fc.boolean(), hasNetwork: fc.boolean() });
  fc.assert(
    fc.property(fc.array(health, { minLength: 2, maxLength: 8 }), healths => {
      let conditions: readonly Condition[] = [foreign];
      for (const [index, each] of healths.entries()) {
        const before = ready(conditions);
        conditions = conditionsOf(conditions, each, none, index * 1000);
        const after = ready(conditions);
        const time = `1970-01-01T00:00:0${index}Z`;
        const wanted = before?.status === after?.status ? before?.lastTransitionTime : time;
        expect([after?.lastTransitionTime, after?.lastHeartbeatTime]).toEqual([wanted, time]);
        expect(conditions.map(({ type }) => type).sort()).toEqual([
          'DiskPressure',
          'MemoryPressure',
          'NetworkUnavailable',
          'PIDPressure',
          'Ready',
        ]);
        expect(conditions[0]).toBe(foreign);
      }
    }),
  );
});

const ca = new TestCa();
const dayMs = 86_400_000;
const certificate = (commonName: string) => ca.issue({ commonName, notBefore: 10 * dayMs, notAfter: 20 * dayMs }).cert;
const lives: [string, string | undefined, number, number][] = [
  ['at its start', certificate('system:node:w'), 10, 0],
  ['half way', certificate('system:node:w'), 15, 0.5],
  ['at its end', certificate('system:node:w'), 20, 1],
  ['after its end', certificate('system:node:w'), 30, 2],
  ['of another node', certificate('system:node:x'), 15, 1],
  ['that is not there', undefined, 15, 1],
  ['that is none', 'no certificate', 15, 1],
];
for (const [name, text, days, want] of lives) {
  test(`a certificate ${name} has used ${want} of its lifetime`, () => {
    expect(usedLife(text, 'w', days * dayMs)).toBeCloseTo(want, 5);
  });
}

/** A host with only these files. */
const hostWith = (files: Record<string, string>) => ({ read: async (path: string) => files[path] });

test('reads its faults from files', async () => {
  expect(await readFaults(hostWith({}), 'f')).toEqual({
    neverReady: false,
    noRegister: false,
    crashAfterMs: undefined,
    slowStopMs: 0,
  });
  const files = {
    'f/kubelet.never-ready': '',
    'f/kubelet.no-register': '',
    'f/kubelet.crash-after': '1500\r\n',
    'f/kubelet.slow-stop': '20',
  };
  expect(await readFaults(hostWith(files), 'f')).toEqual({
    neverReady: true,
    noRegister: true,
    crashAfterMs: 1500,
    slowStopMs: 20,
  });
});

test('labels of the command line do not replace those of every kubelet', () => {
  const host = {
    hostName: () => 'W',
    osBuild: () => '10.0.20348',
    osImage: () => 'Windows',
    bootId: () => '',
    cpus: () => 2,
    memoryBytes: () => 2048,
  };
  const labels = { 'kubernetes.io/os': 'linux', own: '1' };
  const facts = { name: 'w', nodeIp: '10.0.0.1', labels, taints: [windowsTaint], maxPods: 7, host };
  const node = newNode(facts, []);
  expect(node.metadata.labels).toMatchObject({ 'kubernetes.io/os': 'windows', own: '1' });
  expect(node.spec?.taints).toEqual([windowsTaint]);
  expect(node.status?.allocatable).toEqual({ cpu: '2', memory: '2Ki', pods: '7' });
});
