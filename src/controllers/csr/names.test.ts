import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PtrAnswers } from '#controllers/instances/decide.ts';
import {
  brief,
  type Change,
  client,
  decide,
  linux,
  name,
  nodeOf,
  serving,
  windows,
} from '../../../test/kit/csr-facts.ts';
import { nodeNameMatchesInstance, standingOf } from './names.ts';

const byIp = [
  { address: '10.0.0.1', ipv4: '10.0.0.1' },
  { address: '10.0.0.2', ipv4: '10.0.0.2' },
];
const asking: [string, Change, Change, string][] = [
  ['asks all hosts when DNS knows none of them', client, { instances: byIp }, 'ask 10.0.0.1 10.0.0.2'],
  [
    'asks nobody when DNS knows the host',
    client,
    { instances: byIp, ptrAnswers: { '10.0.0.2': [`${name}.`] } },
    'approve',
  ],
  [
    'asks hosts that DNS knows by another name',
    client,
    { instances: byIp, ptrAnswers: { '10.0.0.1': ['a.b'] } },
    'ask 10.0.0.1 10.0.0.2',
  ],
  ['asks a host listed by an alias', client, { instances: [{ address: 'alias', ipv4: undefined }] }, 'ask alias'],
  ['asks only hosts without a Node', client, { instances: byIp, nodes: [nodeOf('x', '10.0.0.1')] }, 'ask 10.0.0.2'],
  [
    'asks nobody when all hosts have a Node',
    client,
    { instances: byIp, nodes: [nodeOf('x', '10.0.0.1'), nodeOf('y', '10.0.0.2')] },
    'ignore',
  ],
  ['asks only the host of the Node for a serving certificate', serving, { instances: byIp }, 'ask 10.0.0.1'],
  ['asks nobody for a request that breaks a rule', client, { instances: byIp, usages: [] }, 'ignore'],
  ['asks nobody for a stranger', client, { instances: byIp, username: 'x' }, 'ignore'],
  ['asks nobody for a Linux node', serving, { instances: byIp, nodes: [linux] }, 'ignore'],
  ['asks nobody for a Node that exists', client, { instances: byIp, nodes: [windows] }, 'ignore'],
  ['approves by the name a host gave', client, { instances: byIp, hostNames: { '10.0.0.2': name } }, 'approve'],
  ['approves by the short name a host gave', client, { instances: byIp, hostNames: { '10.0.0.1': 'WIN1' } }, 'approve'],
  [
    'asks again the host that gave no answer',
    client,
    { instances: byIp, hostNames: { '10.0.0.1': 'x', '10.0.0.2': null } },
    'ask 10.0.0.2',
  ],
  [
    'ignores a name no host gave',
    client,
    { instances: byIp, hostNames: { '10.0.0.1': 'x', '10.0.0.2': 'y' } },
    'ignore',
  ],
  [
    'ignores a name that is part of the one a host gave',
    client,
    { instances: byIp, hostNames: { '10.0.0.1': `x${name}`, '10.0.0.2': `${name}x` } },
    'ignore',
  ],
  ['ignores an empty answer', client, { instances: byIp, hostNames: { '10.0.0.1': '', '10.0.0.2': '' } }, 'ignore'],
  [
    'ignores the answer of a host that has another Node',
    client,
    { instances: byIp, nodes: [nodeOf('x', '10.0.0.1')], hostNames: { '10.0.0.1': name, '10.0.0.2': 'y' } },
    'ignore',
  ],
  [
    'is not confused by a host called constructor',
    client,
    { instances: [{ address: 'constructor', ipv4: undefined }] },
    'ask constructor',
  ],
];
for (const [title, base, change, want] of asking) test(title, () => expect(brief(decide(base, change))).toBe(want));

const ptr: PtrAnswers = {
  '10.0.0.1': ['win1.example.com.'],
  '10.0.0.2': null,
  '10.0.0.3': ['a.example.com', 'WIN3.Example.COM'],
  '10.0.0.4': [],
  '10.0.0.5': [''],
  'fd00::1': ['win6'],
};
const matches: [string, string, string[], boolean][] = [
  ['the name of an address', 'win1.example.com', ['10.0.0.1'], true],
  ['the first label of the name of an address', 'win1', ['10.0.0.1'], true],
  ['the second name of an address in another case', 'win3.example.com', ['10.0.0.3'], true],
  ['the name of an IPv6 address', 'win6', ['fd00::1'], true],
  ['a listed name', 'win9.example.com', ['win9.example.com'], true],
  ['a listed name with dot and capitals', 'win9.example.com', ['Win9.Example.com.'], true],
  ['the first label of a listed name', 'win9', ['win9.example.com'], true],
  ['a full name by its listed first label', 'win9.example.com', ['win9'], true],
  ['an address with a name behind one without', 'win1', ['10.0.0.2', '10.0.0.99', '10.0.0.1'], true],
  ['not an address whose look-up failed', 'win2', ['10.0.0.2'], false],
  ['not an address nobody looked up', '10', ['10.0.0.99'], false],
  ['not an address with an empty list of names', 'win4', ['10.0.0.4'], false],
  ['not an address with an empty name', 'win5', ['10.0.0.5'], false],
  ['not part of a listed name', 'node', ['winnode.example.com'], false],
  ['not the beginning of a label', 'win', ['win9.example.com'], false],
  ['not a later label', 'example', ['win9.example.com'], false],
  ['not the domain', 'example.com', ['win9.example.com'], false],
  ['not the same host name in another domain', 'win9.a.com', ['win9.b.com'], false],
  ['not the first number of an address', '10', ['10.0.0.1'], false],
  ['not an empty name', '', ['win9', '10.0.0.5', ''], false],
  ['nothing without instances', 'win1', [], false],
];
for (const [title, nodeName, addresses, want] of matches) {
  test(`matches ${title}`, () => expect(nodeNameMatchesInstance(nodeName, addresses, ptr)).toBe(want));
}

test('a part of a host name never matches', () => {
  const text = fc.stringMatching(/^[a-z0-9]{1,6}$/);
  const never = (before: string, part: string, after: string) => {
    const hosts = [`${before}${part}.x.y`, `${part}${after}.x.y`, `${before}.${part}.${after}`];
    const addresses = [...hosts, '10.0.0.1'];
    return before === part || !nodeNameMatchesInstance(part, addresses, { '10.0.0.1': hosts });
  };
  fc.assert(fc.property(text, text, text, never), { numRuns: 1000 });
});

test('a failed look-up never changes what the others match', () => {
  const address = fc.constantFrom(...Object.keys(ptr), 'win9');
  const same = (nodeName: string, addresses: string[]) =>
    nodeNameMatchesInstance(nodeName, [...addresses, '10.0.0.2'], ptr) ===
    nodeNameMatchesInstance(nodeName, addresses, ptr);
  fc.assert(fc.property(fc.constantFrom('win1', 'win3', 'win9', 'x'), fc.array(address), same), { numRuns: 300 });
});

test('says where a name stands', () => {
  const one = { address: '10.0.0.1', ipv4: '10.0.0.1' };
  const known = { instances: [one], candidates: [one], ptrAnswers: {}, hostNames: {} };
  expect(standingOf('win1', { ...known, ptrAnswers: ptr })).toEqual({ is: 'listed' });
  expect(standingOf('win1', known)).toEqual({ is: 'unsettled', ask: ['10.0.0.1'] });
  expect(standingOf('win1', { ...known, hostNames: { '10.0.0.1': 'win1' } })).toEqual({ is: 'listed' });
  expect(standingOf('win1', { ...known, hostNames: { '10.0.0.1': 'win2' } })).toEqual({ is: 'unlisted' });
  expect(standingOf('win1', { ...known, candidates: [] })).toEqual({ is: 'unlisted' });
});
