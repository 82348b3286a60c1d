import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type PreScript, type Service, service } from '#contract/services/manifest.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { expandCommand, resolveNodeVariables, scriptText } from './expand.ts';

const node = {
  metadata: {
    name: 'win-1',
    labels: { zone: 'a' },
    annotations: { 'k8s.ovn.org/hybrid-overlay-node-subnet': '10.132.0.0/24', evil: 'x; Remove-Item C:\\', empty: '' },
  },
  spec: { podCIDRs: ['10.0.0.0/24', '10.1.0.0/24'], unschedulable: true },
  status: { capacity: { cpu: 4 }, addresses: [{ type: 'InternalIP', address: '10.0.0.4' }] },
};
const variable = (jsonPath: string, name = 'V') => ({ name, jsonPath });

const resolved: [name: string, jsonPath: string, want: string][] = [
  ['a field', '{.metadata.name}', 'win-1'],
  ['a label', '{.metadata.labels.zone}', 'a'],
  [
    'an annotation with escaped dots',
    '{.metadata.annotations.k8s\\.ovn\\.org/hybrid-overlay-node-subnet}',
    '10.132.0.0/24',
  ],
  ['an annotation in quotes', "{.metadata.annotations['k8s\\.ovn\\.org/hybrid-overlay-node-subnet']}", '10.132.0.0/24'],
  ['an empty text', '{.metadata.annotations.empty}', ''],
  ['one of several by a filter', '{.status.addresses[?(@.type=="InternalIP")].address}', '10.0.0.4'],
  ['one element', '{.spec.podCIDRs[0]}', '10.0.0.0/24'],
  ['a literal path', 'C:\\k\\kubeconfig', 'C:\\k\\kubeconfig'],
  ['a literal number', '0', '0'],
  ['a quoted literal', '{"x"}', 'x'],
];
for (const [name, jsonPath, want] of resolved) {
  test(`resolves ${name}`, () => expect(resolveNodeVariables(node, [variable(jsonPath)])).toEqual({ V: want }));
}

const unresolved: [name: string, jsonPath: string, code: string, hint: string][] = [
  ['a missing annotation', '{.metadata.annotations.desiredkey}', 'JSONPATH_NO_VALUE', '"desiredkey" is not found'],
  ['an empty template', '', 'JSONPATH_NO_VALUE', 'variable V: JSONPath "" has 0 parts'],
  ['text and a path', 'a{.metadata.name}', 'JSONPATH_NO_VALUE', 'has 2 parts'],
  ['two paths', '{.metadata.name}{.metadata.name}', 'JSONPATH_NO_VALUE', 'has 2 parts'],
  ['a blank after the path', '{.metadata.name} ', 'JSONPATH_NO_VALUE', 'has 2 parts'],
  ['a number', '{.status.capacity.cpu}', 'JSONPATH_NO_VALUE', 'gives [4], not one string'],
  ['a boolean', '{.spec.unschedulable}', 'JSONPATH_NO_VALUE', 'gives [true]'],
  ['a list', '{.spec.podCIDRs}', 'JSONPATH_NO_VALUE', 'gives [["10.0.0.0/24"'],
  ['an object', '{.metadata.labels}', 'JSONPATH_NO_VALUE', 'gives [{"zone":"a"}]'],
  ['several values', '{.spec.podCIDRs[*]}', 'JSONPATH_NO_VALUE', 'gives ["10.0.0.0/24","10.1.0.0/24"]'],
  ['no value', '{.status.addresses[?(@.type=="Hostname")].address}', 'JSONPATH_NO_VALUE', 'gives []'],
  ['a broken template', '{.metadata', 'JSONPATH_INVALID', '{.metadata'],
];
for (const [name, jsonPath, code, hint] of unresolved) {
  test(`rejects ${name}`, () => {
    const error = errorOf(() => resolveNodeVariables(node, [variable('{.metadata.name}', 'N'), variable(jsonPath)]));
    expect(error).toMatchObject({ code, message: expect.stringContaining(hint) });
    expect(error?.remedy).not.toBe('');
  });
}

test('resolves several variables', () => {
  const variables = [variable('{.metadata.name}', 'A'), variable('literal', 'B')];
  expect(resolveNodeVariables(node, variables)).toEqual({ A: 'win-1', B: 'literal' });
});

test('needs a Node even for no variable at all', () => {
  const error = errorOf(() => resolveNodeVariables(undefined, []));
  expect(error).toMatchObject({ code: 'NODE_NOT_FOUND', remedy: expect.stringContaining('kubelet') });
});

const kubelet = (command: string, names: string[], from: 'node' | 'host' | 'script' = 'node'): Service =>
  service({
    name: 'kubelet',
    command,
    nodeVariables: from === 'node' ? names.map(name => variable('x', name)) : [],
    hostVariables: from === 'host' ? names.map(name => ({ name, source: 'nodeIP' as const })) : [],
    preScripts: from === 'script' ? names.map(name => ({ variable: name, path: 'x', args: [] })) : [],
  });

const expanded: [name: string, command: string, values: Record<string, string>, want: string][] = [
  ['nothing without variables', 'kubelet.exe --a', {}, 'kubelet.exe --a'],
  ['every occurrence', 'x --a=IP --b=IP', { IP: '1' }, 'x --a=1 --b=1'],
  ['several variables', 'x --node NAME --ip=IP', { NAME: 'n', IP: '1' }, 'x --node n --ip=1'],
  ['a variable the command does not have', 'x', { IP: '1' }, 'x'],
  ['the longer of two names', 'x NODE NODE_NAME', { NODE: '1', NODE_NAME: '2' }, 'x 1 2'],
  ['no name inside a longer word', 'x ZIP IPX IP_4 IP', { IP: '1' }, 'x ZIP IPX IP_4 1'],
  ['a name beside signs', 'x "IP":IP,(IP)-IP.log\\IP', { IP: '1' }, 'x "1":1,(1)-1.log\\1'],
  ['no name inside a value', 'x A B', { A: 'B', B: 'A' }, 'x B A'],
  ['a value with a dollar sign', 'x A', { A: "$&$1$'" }, "x $&$1$'"],
  ['a name with signs of regular expressions', 'x a.c+ abc+', { 'a.c+': '1' }, 'x 1 abc+'],
  ['a name in percent signs, wherever it stands', 'x%IP%y', { '%IP%': '1' }, 'x1y'],
  ['a name only in its own case', 'x ip IP', { IP: '1' }, 'x ip 1'],
  ['an empty name not at all', 'x', { '': '1' }, 'x'],
  ['a name that objects inherit', 'x toString', { toString: '1' }, 'x 1'],
];
for (const [name, command, values, want] of expanded) {
  test.each(['node', 'host', 'script'] as const)(`expands ${name} (from the %s)`, from => {
    expect(expandCommand(kubelet(command, Object.keys(values), from), values)).toBe(want);
  });
}

const stuck: [name: string, values: Record<string, string>, hint: string][] = [
  ['a variable without a value', {}, 'service kubelet: variable IP has no value'],
  ['a variable with an empty value', { IP: '' }, 'variable IP has no value'],
  ['a value of two lines', { IP: '10.0.0.4\r\n10.0.0.5' }, 'variable IP has the value "10.0.0.4\\r\\n10.0.0.5"'],
  ['a value with a NUL', { IP: 'a\0b' }, 'which is not one line'],
];
for (const [name, values, hint] of stuck) {
  test(`rejects ${name} that the command needs`, () => {
    const error = errorOf(() => expandCommand(kubelet('x --ip=IP', ['IP']), values));
    expect(error).toMatchObject({ code: 'COMMAND_VARIABLE_UNRESOLVED', message: expect.stringContaining(hint) });
    expect(error?.remedy).toContain('IP');
  });
}

test('needs no value for a variable that the command does not use', () => {
  expect(expandCommand(kubelet('x', ['IP']), {})).toBe('x');
});

test('uses only own properties of the values', () => {
  expect(errorOf(() => expandCommand(kubelet('x toString', ['toString']), {}))?.code).toBe(
    'COMMAND_VARIABLE_UNRESOLVED',
  );
});

const script = (path: string, ...args: [name: string, jsonPath: string][]): PreScript => ({
  path,
  args: args.map(([name, jsonPath]) => ({ name, jsonPath })),
});
const text = (given: PreScript, from: unknown = node) => scriptText(given, from, 'service kube-proxy');

test('puts the arguments of a script into its text exactly', () => {
  const given = script(
    'C:\\Temp\\network-conf.ps1 -hostnameOverride NODE_NAME -clusterCIDR NODE_SUBNET -kubeConfigPath KUBE_CONFIG_PATH -verbosity VERBOSITY',
    ['NODE_NAME', '{.metadata.name}'],
    ['NODE_SUBNET', '{.metadata.annotations.k8s\\.ovn\\.org/hybrid-overlay-node-subnet}'],
    ['KUBE_CONFIG_PATH', 'C:\\k\\kubeconfig'],
    ['VERBOSITY', '0'],
  );
  expect(text(given)).toBe(
    'C:\\Temp\\network-conf.ps1 -hostnameOverride win-1 -clusterCIDR 10.132.0.0/24 -kubeConfigPath C:\\k\\kubeconfig -verbosity 0',
  );
});

test('takes a script without arguments unchanged, without a Node', () => {
  expect(text(script('x.ps1 -a $b; "c"'), undefined)).toBe('x.ps1 -a $b; "c"');
});

test('needs the Node for a script with arguments', () => {
  expect(errorOf(() => scriptText(script('x A', ['A', '{.metadata.name}']), undefined, 's'))?.code).toBe(
    'NODE_NOT_FOUND',
  );
});

test('rejects a value of the Node that PowerShell would run as code', () => {
  const error = errorOf(() => text(script('x A', ['A', '{.metadata.annotations.evil}'])));
  expect(error).toMatchObject({
    code: 'COMMAND_VARIABLE_UNRESOLVED',
    message: expect.stringContaining('not safe in a script'),
  });
  expect(error?.message).toContain('service kube-proxy: variable A is "x; Remove-Item');
});

test('trusts a literal of the manifest with any signs', () => {
  expect(text(script('x A', ['A', '"a b"; $x']))).toBe('x "a b"; $x');
});

test.each(['$(x)', '`x', 'a|b', 'a&b', 'a>b', '{x}', '"x', "'x", 'a\nb', '#x', '@x', '%x'])(
  'does not let %j from the Node into a script',
  value => {
    const bad = { metadata: { name: value } };
    expect(errorOf(() => text(script('x A', ['A', '{.metadata.name}']), bad))?.code).toBe(
      'COMMAND_VARIABLE_UNRESOLVED',
    );
  },
);

const word = fc.stringMatching(/^[A-Z_]{1,6}$/);
test('gives the same command whatever the order of the variables', () => {
  fc.assert(
    fc.property(
      fc.dictionary(word, word, { minKeys: 1 }),
      fc.array(fc.oneof(word, fc.constant(' -=')), { maxLength: 12 }),
      (values, parts) => {
        const names = Object.keys(values);
        const command = ['x', ...parts].join(' ');
        expect(expandCommand(kubelet(command, names.toReversed()), values)).toBe(
          expandCommand(kubelet(command, names), values),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('replaces each word that is a name once, and nothing else', () => {
  fc.assert(
    fc.property(fc.dictionary(word, word, { minKeys: 1 }), fc.array(word, { maxLength: 12 }), (values, words) => {
      const want = words.map(item => (Object.hasOwn(values, item) ? values[item] : item)).join(' ');
      expect(expandCommand(kubelet(words.join(' '), Object.keys(values)), values)).toBe(want);
    }),
    { numRuns: 500 },
  );
});
