import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { kubeletUnit } from '../../test/kit/openshift-objects.ts';
import type { KubeletArguments } from './facts.ts';
import { kubeletArguments } from './kubelet-unit.ts';

const provider = (value: string): KubeletArguments => ({ 'cloud-provider': value });

const cases: [name: string, unit: string, want: KubeletArguments][] = [
  ['no cloud option', kubeletUnit(), {}],
  ['a cloud provider', kubeletUnit(['--cloud-provider=external']), provider('external')],
  [
    'both options',
    kubeletUnit(['--cloud-provider=azure', '--cloud-config=/etc/kubernetes/cloud.conf']),
    { 'cloud-provider': 'azure', 'cloud-config': '/etc/kubernetes/cloud.conf' },
  ],
  ['an empty value, which is not an absent option', kubeletUnit(['--cloud-provider=']), provider('')],
  ['an option without a value', kubeletUnit(['--cloud-provider']), {}],
  ['an equals sign in the value', kubeletUnit(['--cloud-config=/a=b']), { 'cloud-config': '/a=b' }],
  ['the last of two', kubeletUnit(['--cloud-provider=aws', '--cloud-provider=external']), provider('external')],
  ['options whose names only begin alike', kubeletUnit(['--cloud-provider-x=1', '--cloud-configs=2']), {}],
  ['an option inside the value of another', kubeletUnit(['--x=--cloud-provider=aws']), {}],
  ['other spellings', kubeletUnit(['-cloud-provider=a', '--Cloud-Provider=b', 'cloud-provider=c']), {}],
  ['two options on one line', kubeletUnit(['--a=b --cloud-provider=aws --c']), provider('aws')],
  ['blanks and tabs around an option', 'ExecStart=k \\\n \t --cloud-provider=aws \t \\\n  --v=2\n', provider('aws')],
  ['an option at the very end', 'ExecStart=k \\\n --cloud-provider=aws', provider('aws')],
  ['an option before another setting', 'ExecStart=k \\\n --cloud-provider=aws\nRestart=always\n', provider('aws')],
  ['options beside the program, which are skipped', 'ExecStart=k --cloud-provider=aws \\\n --v=2\n', {}],
  ['a command of one line', 'ExecStart=/usr/bin/kubelet\n\nRestart=always\n', {}],
  ['line ends of Windows', 'ExecStart=k \\\r\n --cloud-provider=aws \\\r\n --v=2\r\n', provider('aws')],
  ['an indented setting', '[Service]\n  ExecStart=k \\\n --cloud-provider=aws\n', provider('aws')],
  ['options after a blank line', 'ExecStart=k \\\n --v=2 \\\n\n --cloud-provider=aws\n', {}],
  ['options of a later command', 'ExecStart=k\n\nExecStop=s \\\n --cloud-provider=aws\n', {}],
  ['options of an earlier command', 'ExecStartPre=p \\\n --cloud-provider=aws\nExecStart=k\n', {}],
  [
    'a comment with a command',
    '#ExecStart=x \\\n# --cloud-provider=a\nExecStart=k \\\n --cloud-provider=b\n',
    provider('b'),
  ],
  ['a reset before the command', 'ExecStart=\nExecStart=k \\\n --cloud-provider=aws\n', provider('aws')],
  ['a blank before the program', 'ExecStart= k \\\n --cloud-provider=aws\n', provider('aws')],
  ['the program on the next line', 'ExecStart=\\\n k --cloud-provider=aws\n', provider('aws')],
];
for (const [name, unit, want] of cases)
  test(`kubelet unit with ${name}`, () => expect(kubeletArguments(unit)).toEqual(want));

const noCommands: [name: string, unit: string][] = [
  ['empty', ''],
  ['with an empty command', '[Service]\nExecStart=\n\nRestart=always\n'],
  ['with only a preparing command', '[Service]\nExecStartPre=/bin/true\n'],
  ['with only a command after the start', '[Service]\nExecStartPost=/bin/true\n'],
  ['with the command in a comment', '[Service]\n# ExecStart=/usr/bin/kubelet\n'],
  ['with the command inside a value', '[Service]\nEnvironment=X=ExecStart=/usr/bin/kubelet\n'],
  ['in other letters', '[Service]\nexecstart=/usr/bin/kubelet\n'],
];
for (const [name, unit] of noCommands)
  test(`refuses a kubelet unit ${name}`, () => {
    const result = attempt(() => kubeletArguments(unit, 'MachineConfig m: kubelet.service'));
    if (result.ok) throw new Error('expected an error');
    expect(result.error.code).toBe('KUBELET_UNIT_MALFORMED');
    expect(result.error.message).toBe('MachineConfig m: kubelet.service: unit missing ExecStart');
    expect(result.error.remedy).not.toBe('');
  });

test('names the unit when no one says where it is from', () => {
  expect(() => kubeletArguments('')).toThrow('kubelet.service: unit missing ExecStart');
});

test('finds a value among any other options', () => {
  const word = fc.stringMatching(/^[a-z][a-z0-9=./,:-]{0,20}$/);
  const value = fc.stringMatching(/^[\w./=-]{0,20}$/);
  fc.assert(
    fc.property(fc.array(word), value, fc.array(word), (before, cloudProvider, after) => {
      const others = (words: string[]) => words.map(text => `--x-${text}`);
      const unit = kubeletUnit([...others(before), `--cloud-provider=${cloudProvider}`, ...others(after)]);
      expect(kubeletArguments(unit)).toEqual(provider(cloudProvider));
    }),
    { numRuns: 500 },
  );
});

test('throws only AppErrors, whatever the unit', () => {
  const pieces = fc.constantFrom(
    'ExecStart=',
    '\\\n',
    '\n',
    '--cloud-provider=',
    '--cloud-config',
    ' ',
    '\\',
    'x',
    '\r\n',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map(parts => parts.join('')),
      ),
      unit => {
        const result = attempt(() => kubeletArguments(unit));
        if (result.ok) for (const name of Object.keys(result.value)) expect(name).toMatch(/^cloud-(provider|config)$/);
      },
    ),
    { numRuns: 2000 },
  );
});
