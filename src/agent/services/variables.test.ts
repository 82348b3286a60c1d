import { expect, test } from 'vitest';
import { type Service, service } from '#contract/services/manifest.ts';
import { ModelHost } from '../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { expandService, prepareService } from './variables.ts';

const node = { name: 'win-1', object: { metadata: { name: 'win-1' } } };
const { signal } = new AbortController();
const kubelet = (over: Partial<Service>) => service({ name: 'kubelet', command: 'x', ...over });
const script = (path: string, variable?: string) => ({ path, args: [], ...(variable !== undefined && { variable }) });
const nodeName = { name: 'NODE_NAME', jsonPath: '{.metadata.name}' };

function hostWith(over: Partial<ModelHost>): ModelHost {
  return Object.assign(new ModelHost(), over);
}

const cases: [name: string, given: Service, host: Partial<ModelHost>, want: string][] = [
  ['leaves a command without variables alone', kubelet({ command: 'a b' }), {}, 'a b'],
  ['puts in a node variable', kubelet({ command: 'x NODE_NAME', nodeVariables: [nodeName] }), {}, 'x win-1'],
  [
    'puts in the output of a script',
    kubelet({ command: 'x IP', preScripts: [script('ip.ps1', 'IP')] }),
    { scriptOutputs: { 'ip.ps1': '10.0.0.4' } },
    'x 10.0.0.4',
  ],
  [
    'trims the output of a script',
    kubelet({ command: 'x IP', preScripts: [script('ip.ps1', 'IP')] }),
    { scriptOutputs: { 'ip.ps1': ' \r\n10.0.0.4\r\n' } },
    'x 10.0.0.4',
  ],
  [
    'puts in the outputs of two scripts',
    kubelet({ command: 'x A B', preScripts: [script('a', 'A'), script('b', 'B')] }),
    { scriptOutputs: { a: '1', b: '2' } },
    'x 1 2',
  ],
  [
    'puts in both kinds',
    kubelet({ command: 'x NODE_NAME IP', nodeVariables: [nodeName], preScripts: [script('ip.ps1', 'IP')] }),
    { scriptOutputs: { 'ip.ps1': '10.0.0.4' } },
    'x win-1 10.0.0.4',
  ],
  [
    'puts in what the host knows',
    kubelet({ command: 'x IP', hostVariables: [{ name: 'IP', source: 'nodeIP' }] }),
    { hostValues: { nodeIP: ' 10.0.0.4 ' } },
    'x 10.0.0.4',
  ],
  [
    'gives a script the arguments from the Node',
    kubelet({ command: 'x A', preScripts: [{ path: 'a.ps1 NODE_NAME', variable: 'A', args: [nodeName] }] }),
    { scriptOutputs: { 'a.ps1 win-1': '1' } },
    'x 1',
  ],
  [
    'goes by the name of the Node when the metadata service is out of reach',
    kubelet({ command: 'x HOST', hostVariables: [{ name: 'HOST', source: 'awsLocalHostname' }] }),
    {},
    'x win-1',
  ],
];
for (const [name, given, host, want] of cases) {
  test(name, async () => expect(await expandService(given, node, hostWith(host), signal)).toBe(want));
}

test('does not run scripts without a variable while it expands', async () => {
  const host = new ModelHost();
  expect(await expandService(kubelet({ preScripts: [script('effect.ps1')] }), node, host, signal)).toBe('x');
  expect(host.log).toEqual([]);
});

test('fails when a script fails', async () => {
  const given = kubelet({ command: 'x A', preScripts: [script('unknown', 'A')] });
  await expect(expandService(given, node, new ModelHost(), signal)).rejects.toThrow('script failed: unknown');
});

test('fails when a script for a variable prints nothing', async () => {
  const host = hostWith({ scriptOutputs: { a: ' \r\n' } });
  const error = await rejectionOf(
    expandService(kubelet({ command: 'x A', preScripts: [script('a', 'A')] }), node, host, signal),
  );
  expect(error?.code).toBe('COMMAND_VARIABLE_UNRESOLVED');
});

test('fails for a node variable before there is a Node', async () => {
  const error = await rejectionOf(
    expandService(kubelet({ nodeVariables: [nodeName] }), undefined, new ModelHost(), signal),
  );
  expect(error?.code).toBe('NODE_NOT_FOUND');
});

const noFallback: [name: string, source: 'nodeIP' | 'gcpHostname', from: typeof node | undefined][] = [
  ['an address', 'nodeIP', node],
  ['a host name before there is a Node', 'gcpHostname', undefined],
];
for (const [name, source, from] of noFallback) {
  test(`has no substitute for ${name}`, async () => {
    const given = kubelet({ command: 'x V', hostVariables: [{ name: 'V', source }] });
    await expect(expandService(given, from, new ModelHost(), signal)).rejects.toThrow(`${source} is out of reach`);
  });
}

test('uses no fallback when aborted', async () => {
  const given = kubelet({ command: 'x V', hostVariables: [{ name: 'V', source: 'fqdn' }] });
  const aborted = AbortSignal.abort(new Error('shutting down'));
  await expect(expandService(given, node, new ModelHost(), aborted)).rejects.toThrow('shutting down');
});

const exclusion = { kind: 'defender-exclusion' as const, arguments: {} };
const network = { kind: 'cni-and-kube-proxy' as const, arguments: {} };

test('prepares natively first, then by scripts without a variable, in order', async () => {
  const host = hostWith({ scriptOutputs: { one: '', two: '' } });
  const given = kubelet({
    prepare: [exclusion, network],
    preScripts: [script('one'), script('value', 'A'), script('two')],
  });
  expect(await prepareService(given, node, host, signal)).toBe(false);
  expect(host.log).toEqual(['prepare defender-exclusion', 'prepare cni-and-kube-proxy', 'run one', 'run two']);
});

test.each([
  [[false, false], false],
  [[true, false], true],
  [[false, true], true],
] as const)('reports whether one of the preparations changed a file: %j', async (changes, want) => {
  const host = new ModelHost();
  const answers = [...changes];
  host.prepared = () => answers.shift() ?? false;
  expect(await prepareService(kubelet({ prepare: [exclusion, network] }), node, host, signal)).toBe(want);
  expect(answers).toEqual([]);
});

test('fails when a preparation fails', async () => {
  const host = new ModelHost();
  host.prepared = () => {
    throw new Error('no HNS network');
  };
  await expect(prepareService(kubelet({ prepare: [network] }), node, host, signal)).rejects.toThrow('no HNS network');
});
