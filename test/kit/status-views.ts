import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { ClusterView, HostView } from '#cli/status/view/host-view.ts';
import { hostOfInstance } from '#cli/status/view/instance-host.ts';
import type { LiveTerminal, TerminalSize } from '#cli/terminal.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { TimelineStep, WindowsInstanceSpec, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { Condition } from '#base/condition.ts';
import type { Clock } from '#base/clock.ts';
import type { Machine } from '#kube/resources-openshift.ts';
import { manualClock } from './manual-clock.ts';

/** Noon, when all these stories happen. */
export const noonMs = Date.UTC(2026, 2, 1, 12);
export const at = (seconds: number): string => new Date(noonMs + seconds * 1000).toISOString();

export const condition = (
  type: string,
  status: Condition['status'],
  reason: string,
  message = `${reason} it is`,
): Condition => ({ type, status, reason, message, lastTransitionTime: at(0) });

export const step = (name: string, from: number, to?: number, more: Partial<TimelineStep> = {}): TimelineStep => ({
  name,
  started: at(from),
  attempts: 1,
  ...(to !== undefined && { finished: at(to) }),
  ...more,
});

/** A WindowsInstance of an entry of windows-instances. */
export function instanceOf(
  name: string,
  status?: WindowsInstanceStatus,
  spec: Partial<WindowsInstanceSpec> = {},
): WindowsInstance {
  const source = { kind: 'ConfigMap', name } as const;
  return {
    apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
    kind: 'WindowsInstance',
    metadata: { name, namespace: 'ns' },
    spec: { address: name, username: 'Administrator', source, ...spec },
    ...(status !== undefined && { status }),
  };
}

export const nodeOf = (name: string, over: Partial<NodeView> = {}): NodeView => ({
  name,
  uid: `uid-${name}`,
  labels: { 'kubernetes.io/os': 'windows', 'node-role.kubernetes.io/worker': '' },
  annotations: { [nodeAnnotation.version]: 'v2', [nodeAnnotation.desiredVersion]: 'v2' },
  addresses: [],
  ready: true,
  unschedulable: false,
  ...over,
});

/** A Machine; with a phase it has an address, and the Node `node-NAME`. */
export const machineOf = (name: string, phase?: string, over: Partial<Machine['metadata']> = {}): Machine => ({
  metadata: { name, namespace: 'openshift-machine-api', ...over },
  ...(phase !== undefined && {
    status: {
      phase,
      addresses: [
        { type: 'InternalIP', address: '10.0.0.7' },
        { type: 'Hostname', address: name },
      ],
      ...(phase === 'Running' && { nodeRef: { kind: 'Node', name: `node-${name}` } }),
    },
  }),
});

export const viewOf = (over: Partial<ClusterView> = {}): ClusterView => ({
  namespace: 'ns',
  machineSets: [],
  unread: [],
  hasOperator: 'yes',
  isOperatorRunning: true,
  instances: [],
  nodes: [],
  entries: {},
  machines: [],
  hostKeys: {},
  rollout: {},
  operatorVersion: '',
  grants: [],
  removedHosts: [],
  clusterProblems: [],
  notes: [],
  ...over,
});

export const failure = {
  code: 'HOST_REFUSED_KEY',
  message: 'the host does not let us in',
  remedy: 'Put the key there.',
};

/** States of a host, as the operator writes them. */
export const statuses = {
  fresh: undefined,
  configuring: {
    phase: 'Configuring',
    step: 'stage programs',
    progress: { bytes: 3_000_000, totalBytes: 6_000_000, started: at(2) },
    activity: { since: at(2), usualSeconds: 180, limitSeconds: 7200 },
    timeline: [step('connect', 0, 1), step('stage programs', 2)],
    conditions: [
      condition('Configured', 'False', 'Configuring'),
      condition('Ready', 'False', 'Configuring', 'stage programs'),
    ],
  },
  waiting: {
    phase: 'Configuring',
    step: 'find node',
    activity: { since: at(2), waitsFor: 'the kubelet registers its Node', usualSeconds: 30, limitSeconds: 600 },
    timeline: [step('connect', 0, 1), step('find node', 2)],
    conditions: [
      condition('Configured', 'False', 'Configuring'),
      condition('Ready', 'False', 'Configuring', 'find node: the kubelet registers its Node'),
    ],
  },
  slow: {
    phase: 'Configuring',
    step: 'find node',
    activity: {
      since: at(2),
      waitsFor: 'the kubelet registers its Node',
      usualSeconds: 30,
      limitSeconds: 600,
      remedy: 'Check the kubelet.',
    },
    timeline: [step('connect', 0, 1), step('find node', 2)],
    conditions: [condition('Configured', 'False', 'Configuring'), condition('Ready', 'False', 'SlowStep')],
  },
  failed: {
    phase: 'Failed',
    step: 'connect',
    nextAttempt: at(30),
    timeline: [step('connect', 0, undefined, { attempts: 3, lastError: failure })],
    conditions: [condition('Configured', 'False', failure.code), condition('Ready', 'False', failure.code)],
  },
  retrying: {
    phase: 'Configuring',
    step: 'connect',
    activity: { since: at(2), usualSeconds: 30, limitSeconds: 90 },
    timeline: [step('connect', 2, undefined, { firstStarted: at(0), attempts: 4, lastError: failure })],
    conditions: [condition('Configured', 'False', failure.code), condition('Ready', 'False', 'Configuring', 'connect')],
  },
  booting: {
    phase: 'Failed',
    step: 'connect',
    timeline: [step('connect', 0, undefined, { lastError: { ...failure, code: 'HOST_UNREACHABLE' } })],
    conditions: [condition('Configured', 'Unknown', 'HOST_UNREACHABLE')],
  },
  ready: {
    phase: 'Ready',
    node: 'win-1',
    ipv4: '10.0.0.1',
    version: 'v2',
    timeline: [step('connect', 0, 1), step('uncordon', 10, 12)],
    conditions: [condition('Configured', 'True', 'Joined'), condition('Ready', 'True', 'Joined')],
  },
  nodeNotReady: {
    phase: 'Ready',
    node: 'win-1',
    conditions: [
      condition('Configured', 'True', 'Joined'),
      condition('Ready', 'False', 'NodeNotReady', 'Node win-1 is not ready'),
    ],
  },
  refused: {
    conditions: [condition('Accepted', 'False', 'INSTANCE_DUPLICATE', 'another is the same host. Remove one.')],
  },
  paused: { phase: 'Paused', conditions: [condition('Ready', 'Unknown', 'Paused')] },
} as const satisfies Record<string, WindowsInstanceStatus | undefined>;

export type StateName = keyof typeof statuses;

/** A host in one of these states. */
export function hostIn(state: StateName, name = '10.0.0.1', over: Partial<HostView> = {}): HostView {
  const nodes = state === 'ready' || state === 'nodeNotReady' ? [nodeOf('win-1')] : [];
  const status: WindowsInstanceStatus | undefined = structuredClone(statuses[state]);
  return { ...hostOfInstance(instanceOf(name, status), viewOf({ nodes })), ...over };
}

export interface RecordedTerminal extends LiveTerminal {
  /** Everything that was written. */
  text: () => string;
  errors: () => string;
  stop: () => void;
  resize: (size: TerminalSize | undefined) => void;
}

/** A terminal that remembers. */
export function recordedTerminal(
  size?: TerminalSize,
  environment: Record<string, string> = {},
  clock: Clock = manualClock(noonMs),
): RecordedTerminal {
  const output = { out: '', err: '' };
  const ending = new AbortController();
  let current = size;
  return {
    out: text => void (output.out += text),
    err: text => void (output.err += text),
    version: () => '11.0.0-test',
    size: () => current,
    environment,
    command: () => '/opt/wmco',
    signal: ending.signal,
    clock,
    text: () => output.out,
    errors: () => output.err,
    stop: () => ending.abort(new Error('SIGINT')),
    resize: next => void (current = next),
  };
}

export const longName = 'windows-worker-in-a-very-long-named-machineset-eu-central-1a-x7k2q';
