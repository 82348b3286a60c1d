import { expect, test } from 'vitest';
import { platforms } from '#contract/names.ts';
import { checkContent } from '#contract/services/compare.ts';
import { parseManifest } from '#contract/services/parse.ts';
import { printManifest } from '#contract/services/print.ts';
import { type ServicesFacts, type ServicesSettings, servicesManifest } from './services.ts';

const facts: ServicesFacts = {
  platform: 'None',
  apiServerUrl: 'https://api-int.c.example.com:6443',
  network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
  kubeletArguments: {},
  proxy: {},
};
const settings: ServicesSettings = {
  debug: false,
  logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
};

function manifest(factChanges: Partial<ServicesFacts> = {}, settingChanges: Partial<ServicesSettings> = {}) {
  return servicesManifest({ ...facts, ...factChanges }, { ...settings, ...settingChanges });
}

function service(name: string, ...changes: Parameters<typeof manifest>) {
  const found = manifest(...changes).services.find(item => item.name === name);
  expect(found, name).toBeDefined();
  return found ?? expect.fail(name);
}

test('SVC-01: starts exactly the required services, in the order the node needs them', () => {
  expect(
    manifest().services.map(({ name, priority, bootstrap }) => `${priority} ${name}${bootstrap ? ' boot' : ''}`),
  ).toEqual([
    '0 containerd boot',
    '1 kubelet boot',
    '2 windows_exporter',
    '2 hybrid-overlay-node',
    '2 csi-proxy',
    '3 kube-proxy',
  ]);
});

for (const platform of [...platforms, 'KubeVirt', '']) {
  for (const debug of [false, true]) {
    test(`gives a manifest that the agent accepts on platform "${platform}"${debug ? ' with debug logging' : ''}`, () => {
      const made = manifest({ platform }, { debug });
      const parsed = parseManifest(printManifest(made));
      expect(() => checkContent(parsed, made)).not.toThrow();
    });
  }
}

const hostnames: [string, string | undefined][] = [
  ['AWS', 'awsLocalHostname'],
  ['GCP', 'gcpHostname'],
  ['VSphere', 'fqdn'],
  ['Azure', undefined],
  ['Nutanix', undefined],
  ['None', undefined],
];
for (const [platform, source] of hostnames) {
  test(`kubelet on ${platform} takes its name from ${source ?? 'the host itself'}`, () => {
    const { command, hostVariables } = service('kubelet', { platform });
    expect(hostVariables.find(({ name }) => name === 'HOSTNAME_OVERRIDE')?.source).toBe(source);
    expect(command.includes('--hostname-override=HOSTNAME_OVERRIDE')).toBe(source !== undefined);
    expect(hostVariables.at(-1)).toEqual({ name: 'NODE_IP', source: 'nodeIP' });
  });
}

const withCloudConfig = { kubeletArguments: { 'cloud-config': '/etc/kubernetes/cloud.conf' } };
const kubeletOptions: [string, Partial<ServicesFacts>, string, boolean][] = [
  [
    'an external cloud provider',
    { kubeletArguments: { 'cloud-provider': 'external' } },
    ' --cloud-provider=external ',
    true,
  ],
  ['an empty cloud provider', { kubeletArguments: { 'cloud-provider': '' } }, ' --cloud-provider= ', true],
  ['no cloud provider', {}, '--cloud-provider', false],
  ['a cloud config by its Windows path', withCloudConfig, ' --cloud-config=C:\\k\\cloud.conf ', true],
  ['no cloud config', {}, '--cloud-config', false],
  [
    'a cloud config in 1.33',
    { ...withCloudConfig, kubeletVersion: 'v1.33.9' },
    ' --cloud-config=C:\\k\\cloud.conf ',
    true,
  ],
  [
    'no cloud config in 1.34, which has no such flag',
    { ...withCloudConfig, kubeletVersion: 'v1.34.0' },
    'cloud-config',
    false,
  ],
  ['the credential provider on AWS', { platform: 'AWS' }, '--image-credential-provider-bin-dir=C:\\k ', true],
  ['no credential provider on Azure', { platform: 'Azure' }, 'credential-provider', false],
  [
    'the credential provider on GCP if payload and workers have it',
    {
      platform: 'GCP',
      optionalPrograms: ['gcr-credential-provider.exe'],
      workerFiles: { '/etc/kubernetes/credential-providers/gcr-credential-provider.yaml': '' },
    },
    '--image-credential-provider-config=C:\\k\\credential-provider-config.yaml',
    true,
  ],
  [
    'no credential provider on GCP without its program',
    {
      platform: 'GCP',
      workerFiles: { '/etc/kubernetes/credential-providers/gcr-credential-provider.yaml': '' },
    },
    'credential-provider',
    false,
  ],
];
for (const [name, change, fragment, present] of kubeletOptions) {
  test(`kubelet gets ${name}`, () => {
    expect(`${service('kubelet', change).command} `.includes(fragment)).toBe(present);
  });
}

test('keeps the order of kubelet options that live clusters have', () => {
  const { command } = service('kubelet', {
    platform: 'AWS',
    kubeletArguments: { 'cloud-provider': 'external', 'cloud-config': '/etc/kubernetes/cloud.conf' },
  });
  const options = [...command.matchAll(/ (--[a-z-]+)/g)].map(match => match[1]);
  expect(options).toEqual([
    '--config',
    '--bootstrap-kubeconfig',
    '--kubeconfig',
    '--cert-dir',
    '--windows-service',
    '--node-labels',
    '--windows-priorityclass',
    '--v',
    '--cloud-provider',
    '--cloud-config',
    '--hostname-override',
    '--node-ip',
    '--image-credential-provider-bin-dir',
    '--image-credential-provider-config',
  ]);
});

const debugFragments: [string, string, string][] = [
  ['containerd', '--log-level info', '--log-level debug'],
  ['kubelet', '--v=2', '--v=4'],
  ['windows_exporter', '--log.level info', '--log.level debug'],
  ['csi-proxy', '--v=2', '--v=4'],
];
for (const [name, normal, debug] of debugFragments) {
  test(`OP-08: ${name} logs more with debug logging`, () => {
    expect(service(name).command).toContain(normal);
    expect(service(name, {}, { debug: true }).command).toContain(debug);
    expect(service(name, {}, { debug: true }).command).not.toContain(normal);
  });
}

test('hybrid overlay has no log level and no port unless asked for', () => {
  const { command } = service('hybrid-overlay-node');
  expect(command).not.toContain('--loglevel');
  expect(command).not.toContain('--hybrid-overlay-vxlan-port');
});

test('hybrid overlay is told a custom VXLAN port, then the log level', () => {
  const network = { ...facts.network, vxlanPort: '9898' };
  const { command } = service('hybrid-overlay-node', { network }, { debug: true });
  expect(command).toMatch(/--hybrid-overlay-vxlan-port 9898 --loglevel 5$/);
});

test('hybrid overlay asks the internal API server and knows its own node', () => {
  const { command, nodeVariables, dependencies } = service('hybrid-overlay-node');
  expect(command).toContain(`--k8s-apiserver=${facts.apiServerUrl} --k8s-cacert C:\\k\\bootstrap-ca.crt`);
  expect(nodeVariables).toEqual([{ name: 'NODE_NAME', jsonPath: '{.metadata.name}' }]);
  expect(dependencies).toEqual(['kubelet']);
});

test('LOG-03: kube-log-runner rotates the logs of kubelet, csi-proxy and kube-proxy', () => {
  const logRotation = { fileSize: '100Mi', fileAge: '168h', flushInterval: '5s' };
  const rotated = manifest({}, { logRotation }).services.filter(({ command }) =>
    command.includes('-log-file-size=100Mi'),
  );
  expect(rotated.map(({ name }) => name)).toEqual(['kubelet', 'csi-proxy', 'kube-proxy']);
  expect(rotated[0]?.command).toContain('-log-file-age=168h -flush-interval=5s C:\\k\\kubelet.exe --config=');
});

test('SVC-01: the cloud node manager runs on Azure only, with an identity of its own', () => {
  const { command, nodeVariables } = service('cloud-node-manager', { platform: 'Azure' });
  expect(command).toContain('--kubeconfig=C:\\k\\cloud-node-manager-kubeconfig');
  expect(nodeVariables.map(({ name }) => name)).toEqual(['NODE_NAME']);
  for (const platform of platforms.filter(name => name !== 'Azure')) {
    expect(manifest({ platform }).services.some(({ name }) => name === 'cloud-node-manager')).toBe(false);
  }
});

test('kube-proxy has its network prepared with the service network and verbosity', () => {
  const prepared = (debug: boolean) => service('kube-proxy', {}, { debug }).prepare;
  expect(prepared(false)).toEqual([
    {
      kind: 'cni-and-kube-proxy',
      arguments: {
        serviceCIDR: '172.30.0.0/16',
        subnetAnnotation: 'k8s.ovn.org/hybrid-overlay-node-subnet',
        verbosity: '0',
        featureGates: 'WinDSR,WinOverlay',
      },
    },
  ]);
  expect(prepared(true)[0]?.arguments['verbosity']).toBe('4');
});

test('kube-proxy gets no feature gate that is always on in its version', () => {
  const [prepared] = service('kube-proxy', { kubeletVersion: 'v1.34.0' }).prepare;
  expect(prepared?.arguments).not.toHaveProperty('featureGates');
});

test('containerd is excluded from Defender before it starts', () => {
  expect(service('containerd').prepare).toEqual([
    { kind: 'defender-exclusion', arguments: { path: 'C:\\k\\containerd\\containerd.exe' } },
  ]);
});

test('needs no PowerShell: every variable is found natively', () => {
  for (const platform of platforms) {
    expect(manifest({ platform }).services.flatMap(({ preScripts }) => preScripts)).toEqual([]);
  }
});

test('every variable of a service occurs in its command, and every capital word in a command is a variable', () => {
  for (const platform of platforms) {
    for (const { command, nodeVariables, hostVariables } of manifest({ platform }).services) {
      const names = [...nodeVariables, ...hostVariables].map(({ name }) => name);
      const words = [...command.matchAll(/(?<![A-Z_])(NODE_[A-Z]+|HOSTNAME_OVERRIDE)(?![A-Z_])/g)].map(
        match => match[1],
      );
      expect(new Set(words)).toEqual(new Set(names));
    }
  }
});

test('PRX-01, PRX-04: carries the proxy variables of the cluster, and none without a proxy, but always watches all three', () => {
  const proxy = { HTTPS_PROXY: 'http://p:3128', NO_PROXY: '.svc' };
  expect(manifest({ proxy }).environment).toEqual(proxy);
  expect(printManifest(manifest())).not.toHaveProperty('environmentVars');
  expect(manifest().watchedEnvironment).toEqual(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']);
});

test('refuses to guess the API server', () => {
  expect(() => manifest({ apiServerUrl: '' })).toThrow(expect.objectContaining({ code: 'API_SERVER_URL_MISSING' }));
});

test('a platform unknown is handled without special cases, whatever its name', () => {
  for (const platform of ['BareMetal', 'constructor', '__proto__', '']) {
    expect(manifest({ platform })).toEqual(manifest({ platform: 'None' }));
  }
});
