import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { at, condition, instanceOf, nodeOf, noonMs, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import type { ClusterView } from '../../status/view/host-view.ts';
import { checkUpgrade } from './decide.ts';
import type { UpgradeFacts } from './facts.ts';

const kubeletVersion = 'v1.36.2';

/** A host that works. */
function host(name: string, status: WindowsInstanceStatus = {}, spec: object = {}): WindowsInstance {
  const recorded = { host: { name, addresses: [] }, version: 'v2', node: name };
  return instanceOf(name, { ...structuredClone(statuses.ready), ...recorded, ...status }, spec);
}

const node = (name: string, over: Partial<NodeView> = {}) => nodeOf(name, { kubeletVersion, ...over });
const claims = (version: string) => ({ annotations: { [nodeAnnotation.version]: version } });

const healthy: Partial<ClusterView> = {
  instances: [host('win-1'), host('win-2')],
  nodes: [node('win-1'), node('win-2')],
  operatorVersion: 'v2',
};

interface Change extends Partial<Omit<UpgradeFacts, 'view'>> {
  view?: Partial<ClusterView>;
}

function run({ view, ...facts }: Change) {
  const all = { server: 'v1.36.4', target: 'v1.38', payload: kubeletVersion, ...facts };
  const checks = checkUpgrade({ ...all, view: viewOf({ ...healthy, ...view }) });
  return {
    bad: checks.flatMap(({ check, level }) => (level === 'bad' ? [check] : [])),
    details: Object.fromEntries(checks.map(({ check, level, detail }) => [check, `${level}: ${detail}`])),
    findings: checks.flatMap(({ findings }) => findings),
  };
}

test('a healthy cluster may go two minor versions up', () => {
  expect(run({})).toEqual({
    bad: [],
    details: {
      reading: 'ok: all objects can be read',
      operator: 'ok: operator v2 runs, and reports no problem of the cluster',
      hosts: 'ok: all 2 are Ready',
      version: 'ok: v2 on all hosts',
      'roll-out': 'ok: nothing is being upgraded, paused or stopped',
      now: 'ok: API server v1.36.4, kubelets v1.36.2',
      target: 'ok: API server v1.38, kubelets v1.36.2',
      way: 'note: v1.37, then v1.38; run this check again before each',
      payload: 'ok: kubelet v1.36.2, for API servers v1.36 to v1.39',
    },
    findings: [],
  });
});

test('without a target it says how far the kubelets allow to go', () => {
  const { details, bad } = run({ target: undefined });
  expect(bad).toEqual([]);
  expect(details['now']).toBe('ok: API server v1.36.4, kubelets v1.36.2: API servers up to v1.39 fit');
  expect(Object.keys(details)).not.toContain('target');
});

const broken = { code: 'HOST_UNREACHABLE', message: 'no answer', remedy: 'Start it.' };
const failed = { at: at(9), code: 'UPGRADE_UNHEALTHY', message: 'not Ready' };
const withFirst = (status: WindowsInstanceStatus, spec: object = {}) => [host('win-1', status, spec), host('win-2')];
const removal = { [instanceAnnotation.removal]: at(0) };

/** What keeps the cluster from being upgraded: the checks that fail, and what is said about it. */
const stops: [about: string, change: Change, bad: string[], says: RegExp][] = [
  [
    'a Node that is not Ready, whatever the record says',
    { view: { nodes: [node('win-1', { ready: false, readyMessage: 'no network' }), node('win-2')] } },
    ['hosts'],
    /^NODES_UNFIT: Node win-1 of host win-1 is not Ready: no network -> Run `kubectl describe node win-1`/m,
  ],
  [
    'a host that failed',
    { view: { instances: withFirst({ ...structuredClone(statuses.failed) }) } },
    ['hosts'],
    /^NODES_UNFIT: host win-1 is Failed: HOST_REFUSED_KEY: .* -> Put the key there\./m,
  ],
  [
    'a paused host',
    { view: { instances: withFirst(statuses.paused, { paused: true }) } },
    ['hosts'],
    /host win-1 is paused -> Run `kubectl patch windowsinstance win-1 -n ns --type merge -p '\{"spec":\{"paused":false\}\}'`\./,
  ],
  [
    'a host that is being removed',
    { view: { instances: [{ ...host('win-1'), metadata: { name: 'win-1', annotations: removal } }, host('win-2')] } },
    ['hosts'],
    /host win-1 is being removed/,
  ],
  [
    'a host that joins',
    { view: { instances: [...(healthy.instances ?? []), instanceOf('win-3', { phase: 'Configuring' })] } },
    ['hosts', 'version'],
    /host win-3 is Configuring -> Run `wmco status win-3`/,
  ],
  [
    'an entry without a host',
    { view: { entries: { bad_name: 'username=x' } } },
    ['hosts', 'version'],
    /host bad_name is Rejected: INSTANCE_ADDRESS_INVALID/,
  ],
  ['a Node that is gone', { view: { nodes: [node('win-2')] } }, ['hosts'], /host win-1 is NodeDeleted/],
  [
    'an orphan Node of the operator',
    { view: { nodes: [node('win-1'), node('win-2'), node('win-9')] } },
    ['hosts'],
    /host win-9 is Unmanaged: NodeUnmanaged: .* -> To keep it, add the entry/,
  ],
  [
    'a Node that the operator has cordoned',
    {
      view: {
        nodes: [
          node('win-1', { unschedulable: true, annotations: { [nodeAnnotation.cordoned]: 'true' } }),
          node('win-2'),
        ],
      },
    },
    ['hosts'],
    /Node win-1 of host win-1 was taken out of service by the operator/,
  ],
  [
    'hosts of two versions',
    { view: { instances: withFirst({ version: 'v1' }), nodes: [node('win-1', claims('v1')), node('win-2')] } },
    ['version', 'roll-out'],
    /^NODES_DIFFER: the hosts have different versions: v1 \(win-1\), v2 \(win-2\) -> Run `wmco rollout`/m,
  ],
  [
    'hosts that an operator has not upgraded yet',
    { view: { operatorVersion: 'v3' } },
    ['version', 'roll-out'],
    /the hosts have v2, the operator v3 -> Wait/,
  ],
  [
    'a Node that claims another version than the record',
    { view: { nodes: [node('win-1', claims('v7')), node('win-2')] } },
    ['version'],
    /host win-1 has v2 by the record, and its Node claims v7/,
  ],
  [
    'a roll-out that is paused',
    { view: { rollout: { paused: 'true' } } },
    ['roll-out'],
    /^ROLLOUT_OPEN: .* paused.* -> Run `wmco rollout resume`\./m,
  ],
  [
    'a roll-out that is stopped by a rollback',
    {
      view: {
        instances: withFirst({
          version: 'v1',
          upgrade: { from: 'v1', to: 'v2', activated: at(0), failed, rolledBack: at(9) },
        }),
        nodes: [node('win-1', claims('v1')), node('win-2')],
      },
    },
    ['hosts', 'version', 'roll-out'],
    /a host was rolled back, and the roll-out is stopped/,
  ],
  [
    'a host that soaks',
    { view: { instances: withFirst({ upgrade: { from: 'v1', to: 'v2', activated: at(0), ready: at(9) } }) } },
    ['roll-out'],
    /1 of 2 hosts are not upgraded for good/,
  ],
  [
    'a host that holds a grant',
    { view: { grants: [{ instance: 'win-1', node: 'win-1', journey: 'reboot', sinceMs: noonMs }] } },
    ['roll-out'],
    /host win-1 holds a grant of the budget for its reboot/,
  ],
  [
    'a cluster that the operator reports as unsuitable',
    { view: { clusterProblems: [broken] } },
    ['operator'],
    /^CLUSTER_UNSUITABLE: the operator reports HOST_UNREACHABLE: no answer -> Start it\./m,
  ],
  [
    'lists that cannot be read',
    { view: { unread: ['rollout'], notes: ['ConfigMap windows-rollout cannot be read: permission denied'] } },
    ['reading'],
    /^CLUSTER_UNREAD: ConfigMap windows-rollout cannot be read: permission denied/m,
  ],
  [
    'a kubelet that is too old for the target',
    { target: 'v1.40.1' },
    ['target', 'payload'],
    /host win-1: its kubelet v1\.36\.2 is more than 3 minor versions older than the API server v1\.40\.1 -> Upgrade the cluster to v1\.39 at most/,
  ],
  [
    'one kubelet that is too old for the target',
    { view: { nodes: [node('win-1', { kubeletVersion: 'v1.34.8' }), node('win-2')] } },
    ['target'],
    /host win-1: its kubelet v1\.34\.8 .* -> Upgrade the cluster to v1\.37 at most/,
  ],
  [
    'a kubelet that is newer than the API server now',
    { server: 'v1.35.9', target: undefined },
    ['now'],
    /host win-1: its kubelet v1\.36\.2 is newer than the API server v1\.35\.9/,
  ],
  [
    'a kubelet version that is none',
    { view: { nodes: [node('win-1', { kubeletVersion: '\u001b[2J$(reboot)' }), node('win-2')] } },
    ['now', 'target'],
    /Node win-1 of host win-1 reports the kubelet version /,
  ],
  [
    'a target that is older',
    { target: 'v1.35' },
    ['target', 'payload'],
    /v1\.35 is older than the API server v1\.36\.4/,
  ],
  [
    'an operator that does not support the target',
    { payload: 'v1.34.1', server: 'v1.36.4' },
    ['payload'],
    /^SERVER_VERSION_UNSUPPORTED: .* -> Uninstall the operator before the upgrade with `wmco uninstall`/m,
  ],
];
for (const [about, change, bad, says] of stops) {
  test(`says no to ${about}, with a remedy`, () => {
    const result = run(change);
    expect(result.bad).toEqual(bad);
    expect(result.findings.map(({ code, message, remedy }) => `${code}: ${message} -> ${remedy}`).join('\n')).toMatch(
      says,
    );
    for (const { remedy } of result.findings) expect(remedy).toMatch(/\.$|`$/);
  });
}

const withoutOperator = { isOperatorRunning: false, operatorVersion: 'v2' };
const foreign = nodeOf('win-9', { annotations: {}, ready: false, kubeletVersion: 'v1.20.0' });

const goes: [about: string, change: Change, details: Record<string, string>][] = [
  [
    'an operator that is uninstalled, whatever its payload supports',
    { view: withoutOperator, payload: 'v1.34.1' },
    {
      operator: 'note: operator v2 does not run: no repairs, upgrades or approvals',
      payload: 'note: kubelet v1.34.1, for API servers v1.34 to v1.37: install a release that supports v1.38',
    },
  ],
  [
    'Nodes whose records are gone with the namespace',
    { view: { ...withoutOperator, hasOperator: 'no', instances: [], operatorVersion: '' }, payload: undefined },
    {
      operator: 'note: none is installed: what Nodes say about themselves is all there is',
      hosts: 'ok: all 2 are Ready',
      version: 'ok: v2, as the Nodes say',
      payload: 'note: the operator has not reported which API servers it supports',
    },
  ],
  [
    'what an operator reported that has ended',
    { view: { ...withoutOperator, clusterProblems: [broken] } },
    { operator: 'note: operator v2 does not run: no repairs, upgrades or approvals' },
  ],
  [
    'Windows nodes of others',
    { view: { nodes: [...(healthy.nodes ?? []), foreign] } },
    { hosts: 'ok: all 2 are Ready' },
  ],
  [
    'a Node that an administrator has cordoned',
    { view: { nodes: [node('win-1', { unschedulable: true }), node('win-2')] } },
    { hosts: 'note: all 2 are Ready; an administrator has cordoned win-1' },
  ],
  [
    'no Windows host at all',
    { view: { instances: [], nodes: [] } },
    { hosts: 'note: there is no Windows host', version: 'ok: there is none to compare' },
  ],
  ['a patch release', { target: 'v1.36.9' }, { target: 'ok: API server v1.36.9, kubelets v1.36.2' }],
  [
    'kubelets of different patch releases',
    { view: { nodes: [node('win-1', { kubeletVersion: 'v1.36.1' }), node('win-2')] } },
    { now: 'ok: API server v1.36.4, kubelets v1.36.1, v1.36.2' },
  ],
];
for (const [about, change, details] of goes) {
  test(`says go to ${about}`, () => {
    const result = run(change);
    expect([result.bad, result.findings]).toEqual([[], []]);
    expect(result.details).toMatchObject(details);
  });
}

for (const kubelet of ['v1.99999', 'v99999.99999.0', 'v0.0', 'v0.1.0-beta']) {
  test(`a Node that claims kubelet ${kubelet} is named, and no other host`, () => {
    const { bad, findings } = run({ view: { nodes: [node('win-1', { kubeletVersion: kubelet }), node('win-2')] } });
    expect(bad).toEqual(['now', 'target']);
    for (const { message } of findings) expect(message).toContain(`host win-1: its kubelet ${kubelet} is`);
  });
}

test('the only Node claims a kubelet after which no version comes', () => {
  const only = [node('win-1', { kubeletVersion: 'v1.99999' })];
  expect(run({ view: { instances: [host('win-1')], nodes: only } }).bad).toEqual(['now', 'target']);
});

test('a long version is shortened', () => {
  const kubelet = `v1.20.0+${'x'.repeat(250_000)}`;
  const { findings, details } = run({ view: { nodes: [node('win-1', { kubeletVersion: kubelet }), node('win-2')] } });
  expect(findings.length).toBeGreaterThan(0);
  expect(JSON.stringify([findings.map(({ message }) => message), details]).length).toBeLessThan(10_000);
});

const remedies: [about: string, kubelet: string, server: string, target: string, remedy: RegExp][] = [
  ['the cluster can go some of the way', 'v1.34.1', 'v1.36.2', 'v1.38', /^Upgrade the cluster to v1\.37 at most, then/],
  ['it can go no further', 'v1.33.1', 'v1.36.2', 'v1.38', /^Upgrade first the operator and with it the hosts/],
  ['it is too far already', 'v1.20.1', 'v1.36.2', 'v1.38', /^Fix what is reported about the kubelets now first\.$/],
];
for (const [about, kubelet, server, target, remedy] of remedies) {
  test(`the remedy says what to do when ${about}`, () => {
    const { findings } = run({
      server,
      target,
      view: { nodes: [node('win-1', { kubeletVersion: kubelet }), node('win-2')] },
    });
    expect(findings.filter(({ message }) => message.includes(target)).map(each => each.remedy)).toEqual([
      expect.stringMatching(remedy),
    ]);
  });
}

test('names no way to a target that no upgrade reaches', () => {
  expect(Object.keys(run({ target: 'v1.99' }).details)).not.toContain('way');
});

test('what a Node says does not count against other hosts', () => {
  const lies = { kubeletVersion: 'v9.99.0', ...claims('v9') };
  const { findings } = run({ view: { nodes: [node('win-1', lies), node('win-2')] } });
  expect(findings.length).toBeGreaterThan(0);
  expect(findings.filter(({ message }) => message.includes('win-2'))).toEqual([]);
});

const condemned = condition('Ready', 'False', 'NodeNotReady', 'Node win-1 is not ready');
test('a host that the operator reports as not ready is named with its remedy', () => {
  const { findings } = run({ view: { instances: withFirst({ conditions: [condemned] }) } });
  expect(findings.map(({ message }) => message)).toEqual([
    expect.stringContaining('host win-1 is NodeNotReady: NodeNotReady: Node win-1 is not ready'),
  ]);
});
