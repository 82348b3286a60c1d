import { configMapName, monitoringLabel } from './names.ts';

export interface EventText {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

type EventProblem = Record<'code' | 'message' | 'remedy', string>;

const normal = (reason: string, message: string): EventText => ({ type: 'Normal', reason, message });
const warning = (reason: string, message: string): EventText => ({ type: 'Warning', reason, message });

/** Every event of the operator, in the words that users' alerts and scripts match. */
export const eventText = {
  instanceSetup: (address: string) =>
    normal('InstanceSetup', `Configured instance with address ${address} as a worker node`),
  instanceAdopted: (address: string, node: string, version: string, further = '') =>
    normal(
      'InstanceAdopted',
      `Adopted Node ${node} of version ${version} as the instance with address ${address}; its host is unchanged${further}`,
    ),
  agentReconnected: (address: string) =>
    normal('AgentReconnected', `Gave the agent of the instance with address ${address} new credentials`),
  nodeAddressConflict: (node: string, address: string, own: string) =>
    warning(
      'NodeAddressConflict',
      `Node ${node} reports the address ${address}, which belongs to Node ${own}. Find out which of the two hosts has it`,
    ),
  /** New: the Go operator leaves these to the logs. The node is taken out of service. */
  instanceUpgradeStarted: (address: string, node: string, from: string, to: string) =>
    normal(
      'InstanceUpgradeStarted',
      `Upgrading Node ${node} of the instance with address ${address} from version ${from} to ${to}`,
    ),
  instanceUpgraded: (address: string, node: string, from: string, to: string) =>
    normal(
      'InstanceUpgraded',
      `Upgraded Node ${node} of the instance with address ${address} from version ${from} to ${to}`,
    ),
  instanceUpgradeFailure: (message: string) => warning('InstanceUpgradeFailure', message),
  instanceRolledBack: (node: string, { from, to, why }: Record<'from' | 'to' | 'why', string>) =>
    warning(
      'InstanceRolledBack',
      `Node ${node} runs version ${from} again; the roll-out of version ${to} stops. The upgrade failed: ${why}`,
    ),
  instanceRollbackFailure: (message: string) => warning('InstanceRollbackFailure', message),
  instanceSetupFailure: (message: string) => warning('InstanceSetupFailure', message),
  instanceTeardown: (addresses: readonly string[]) =>
    normal('InstanceTeardown', `Deconfigured node with addresses [${addresses.join(' ')}]`),
  /** New: the Go operator leaves these to the logs. */
  instanceTeardownFailure: (message: string) => warning('InstanceTeardownFailure', message),
  instanceRemovalIncomplete: (message: string) => warning('InstanceRemovalIncomplete', message),
  instanceRebooted: (address: string, node: string) =>
    normal('InstanceRebooted', `Rebooted instance with address ${address}; Node ${node} is ready`),
  instanceRebootFailure: (message: string) => warning('InstanceRebootFailure', message),
  /** New: the Go operator leaves these to the logs. */
  keyAccepted: (address: string, key: string) =>
    normal('KeyAccepted', `Instance with address ${address} accepts the current SSH key ${key}`),
  formerKeyKept: (address: string, key: string, why: string) =>
    warning('FormerKeyKept', `Host ${address} still accepts the former SSH key ${key}: ${why}`),
  keyOutdated: (message: string) => warning('KeyOutdated', message),
  settingsApplied: (address: string, node: string) =>
    normal(
      'SettingsApplied',
      `Services of instance with address ${address} run with the changed settings; Node ${node} is ready`,
    ),
  settingsFailure: (message: string) => warning('SettingsFailure', message),
  rebootLimitReached: ({ code, message, remedy }: EventProblem) =>
    warning('RebootLimitReached', `${code}: ${message}. ${remedy}`),
  versionClaimed: (node: string, why: string) =>
    warning('NodeVersionClaimed', `Node ${node} is not set up again: ${why}`),
  machineSetup: (machine: string) => normal('MachineSetup', `Machine ${machine} configured successfully`),
  machineAuthenticationFailure: (machine: string) =>
    warning('MachineSetupFailure', `Machine ${machine} authentication failure`),
  machineConfigurationFailure: (machine: string, why?: string) =>
    warning('MachineSetupFailure', `Machine ${machine} configuration failure${why === undefined ? '' : `: ${why}`}`),
  machineDeletionRestricted: (machine: string, maxUnhealthy: number) =>
    warning(
      'MachineDeletionRestricted',
      `Machine ${machine} deletion restricted as the maximum unhealthy machines can\`t exceed ${maxUnhealthy} count`,
    ),
  machineDeleted: (machine: string) =>
    normal('MachineDeleted', `Machine ${machine} has been remediated by deleting the Machine object`),
  machineDeletionFailed: (machine: string, message: string) =>
    warning('MachineDeletionFailed', `Machine ${machine} deletion failed: ${message}`),
  nodeNameInvalid: (node: string) =>
    warning(
      'NodeNameValidationFailed',
      `node name ${node} does not comply with naming rules defined in RFC1123: Requirements for internet hosts`,
    ),
  monitoringEnabled: (namespace: string) =>
    normal('monitoringEnabled', `Cluster monitoring ${monitoringLabel} label is enabled in ${namespace} namespace`),
  monitoringDisabled: (namespace: string) =>
    warning(
      'monitoringDisabled',
      `Cluster monitoring ${monitoringLabel} label is not enabled in ${namespace} namespace`,
    ),
  operatorConditionError: (message: string) => warning('OperatorConditionError', message),
  /** New: the Go operator emits no event for a rejected request. */
  csrRefused: (rule: string, why: string) => warning('CSRRefused', `Not approved (${rule}): ${why}`),
  csrCrowd: (requester: string, limit: number) =>
    warning(
      'CSRsTooMany',
      `${requester} has more than ${limit} pending CSRs; only ${limit} are evaluated at a time, and refusals are not reported individually. Run kubectl get csr to find their source`,
    ),
  /** New: `command` cleans the host. */
  nodeRemovedByForce: ({ node, address, removed }: Record<'node' | 'address' | 'removed', string>, command: string) =>
    warning(
      'NodeRemovedByForce',
      `Node ${node} has registered, although its host ${address} was removed by force at ${removed}. It is cordoned and tainted. To clean the host, list ${address} in the ConfigMap ${configMapName.instances} and delete the entry when the Node is Ready; or run on the host: ${command}, then kubectl delete node ${node}`,
    ),
  kubeletUnreachable: ({ message, remedy }: { message: string; remedy: string }) =>
    warning('KubeletUnreachable', `${message}. ${remedy}`),
  prePullTimeout: ({ message, remedy }: { message: string; remedy: string }) =>
    warning('PrePullTimeout', `${message}. ${remedy}`),
  hostKeyChanged: (address: string, remedy: string) =>
    warning('SSHHostKeyChanged', `Host ${address} shows another SSH host key than the pinned one. ${remedy}`),
  privateKeyUnusable: (message: string) => warning('PrivateKeyUnusable', message),
  /** New: the Go operator leaves the first to the logs, and does not check the second. */
  privateKeyWeak: (message: string) => warning('PrivateKeyWeak', message),
  privateKeyShared: (message: string) => warning('PrivateKeyShared', message),
  /** New: the Go operator leaves these to the logs. */
  mirrorIgnored: ({ message, remedy }: Pick<EventProblem, 'message' | 'remedy'>) =>
    warning('MirrorIgnored', `${message}. ${remedy}`),
  mirrorPathDiffers: (message: string) =>
    warning('MirrorPathDiffers', `${message}. Copy the image to the path that Windows nodes ask for`),
  noMirrorLeft: ({ message, remedy }: Pick<EventProblem, 'message' | 'remedy'>) =>
    warning('NoMirrorLeft', `${message}. ${remedy}`),
  mirrorNotUsed: (name: string) =>
    warning(
      'MirrorNotUsed',
      `Windows nodes do not use ImageContentSourcePolicy ${name}. Create an ImageDigestMirrorSet from it: oc adm migrate icsp`,
    ),
  registryNotBlocked: ({ message, remedy }: Pick<EventProblem, 'message' | 'remedy'>) =>
    warning('RegistryNotBlocked', `${message}. ${remedy}`),
  registrySourceIgnored: ({ message, remedy }: Pick<EventProblem, 'message' | 'remedy'>) =>
    warning('RegistrySourceIgnored', `${message}. ${remedy}`),
  moreMirrorProblems: (count: number) =>
    warning('MoreMirrorProblems', `${count} more problems. Run wmco check mirrors to see all`),
  /** New: the Go operator leaves these to the logs. */
  exporterCertificateUnusable: ({ code, message, remedy }: EventProblem) =>
    warning('ExporterCertificateUnusable', `${code}: ${message}. ${remedy}`),
  clusterUnsuitable: ({ code, message, remedy }: EventProblem) =>
    warning('ClusterUnsuitable', `${code}: ${message}. ${remedy}`),
  clusterSuitable: () => normal('ClusterSuitable', 'The cluster supports Windows nodes: all checks pass'),
  nodeNotCounted: (node: string, why: string) =>
    warning(
      'NodeNotCounted',
      `Node ${node} is out of service (${why}) and has kept other hosts waiting for an hour; the disruption budget does not count it for a day. Repair the node, or set countCordoned: always in ConfigMap windows-rollout for cordoned nodes`,
    ),
  rolloutSettingInvalid: ({ code, message, remedy }: EventProblem) =>
    warning('RolloutSettingInvalid', `${code}: ${message}. ${remedy}`),
  kubeletSettingInvalid: ({ code, message, remedy }: EventProblem) =>
    warning('KubeletSettingInvalid', `${code}: ${message}. ${remedy}`),
  servicesMissing: (name: string) =>
    warning(
      'ServicesConfigMissing',
      `ConfigMap ${name} was deleted, and this version of the operator cannot create it. Its hosts keep their services running, but cannot repair them or go back to that version. Restore it from a backup, or upgrade the hosts: \`wmco rollout\` shows what holds them back`,
    ),
  certificateReadError: (message: string) => warning('CertificateReadError', message),
} as const;
