import { expect, test } from 'vitest';
import { type EventText, eventText } from './events.ts';

const cases: [EventText, 'Normal' | 'Warning', string, string][] = [
  [
    eventText.instanceSetup('10.1.42.1'),
    'Normal',
    'InstanceSetup',
    'Configured instance with address 10.1.42.1 as a worker node',
  ],
  [
    eventText.instanceAdopted('10.1.42.1', 'win-1', 'v1'),
    'Normal',
    'InstanceAdopted',
    'Adopted Node win-1 of version v1 as the instance with address 10.1.42.1; its host is unchanged',
  ],
  [
    eventText.agentReconnected('10.1.42.1'),
    'Normal',
    'AgentReconnected',
    'Gave the agent of the instance with address 10.1.42.1 new credentials',
  ],
  [
    eventText.nodeAddressConflict('evil', '10.1.42.1', 'win-1'),
    'Warning',
    'NodeAddressConflict',
    'Node evil reports the address 10.1.42.1, which belongs to Node win-1. Find out which of the two hosts has it',
  ],
  [
    eventText.instanceUpgradeStarted('10.1.42.1', 'win-1', 'v1', 'v2'),
    'Normal',
    'InstanceUpgradeStarted',
    'Upgrading Node win-1 of the instance with address 10.1.42.1 from version v1 to v2',
  ],
  [
    eventText.instanceUpgraded('10.1.42.1', 'win-1', 'v1', 'v2'),
    'Normal',
    'InstanceUpgraded',
    'Upgraded Node win-1 of the instance with address 10.1.42.1 from version v1 to v2',
  ],
  [eventText.instanceUpgradeFailure('it failed'), 'Warning', 'InstanceUpgradeFailure', 'it failed'],
  [
    eventText.instanceRolledBack('win-1', { from: 'v1', to: 'v2', why: 'no report' }),
    'Warning',
    'InstanceRolledBack',
    'Node win-1 runs version v1 again; the roll-out of version v2 stops. The upgrade failed: no report',
  ],
  [eventText.instanceRollbackFailure('it failed'), 'Warning', 'InstanceRollbackFailure', 'it failed'],
  [eventText.instanceSetupFailure('no route to host'), 'Warning', 'InstanceSetupFailure', 'no route to host'],
  [
    eventText.instanceTeardownFailure('HOST_UNREACHABLE: 10.1.2.3 does not answer'),
    'Warning',
    'InstanceTeardownFailure',
    'HOST_UNREACHABLE: 10.1.2.3 does not answer',
  ],
  [
    eventText.instanceRemovalIncomplete('Host 10.1.2.3: C:\\k\\x could not be removed'),
    'Warning',
    'InstanceRemovalIncomplete',
    'Host 10.1.2.3: C:\\k\\x could not be removed',
  ],
  [
    eventText.instanceTeardown(['10.1.42.1', 'win-1']),
    'Normal',
    'InstanceTeardown',
    'Deconfigured node with addresses [10.1.42.1 win-1]',
  ],
  [eventText.instanceTeardown([]), 'Normal', 'InstanceTeardown', 'Deconfigured node with addresses []'],
  [eventText.machineSetup('win-a'), 'Normal', 'MachineSetup', 'Machine win-a configured successfully'],
  [
    eventText.machineAuthenticationFailure('win-a'),
    'Warning',
    'MachineSetupFailure',
    'Machine win-a authentication failure',
  ],
  [
    eventText.machineConfigurationFailure('win-a'),
    'Warning',
    'MachineSetupFailure',
    'Machine win-a configuration failure',
  ],
  [
    eventText.machineConfigurationFailure('win-a', 'its name is too long'),
    'Warning',
    'MachineSetupFailure',
    'Machine win-a configuration failure: its name is too long',
  ],
  [
    eventText.machineDeletionRestricted('win-a', 1),
    'Warning',
    'MachineDeletionRestricted',
    'Machine win-a deletion restricted as the maximum unhealthy machines can`t exceed 1 count',
  ],
  [
    eventText.machineDeleted('win-a'),
    'Normal',
    'MachineDeleted',
    'Machine win-a has been remediated by deleting the Machine object',
  ],
  [
    eventText.machineDeletionFailed('win-a', 'forbidden'),
    'Warning',
    'MachineDeletionFailed',
    'Machine win-a deletion failed: forbidden',
  ],
  [
    eventText.nodeNameInvalid('WIN_1'),
    'Warning',
    'NodeNameValidationFailed',
    'node name WIN_1 does not comply with naming rules defined in RFC1123: Requirements for internet hosts',
  ],
  [
    eventText.monitoringEnabled('wmco'),
    'Normal',
    'monitoringEnabled',
    'Cluster monitoring openshift.io/cluster-monitoring label is enabled in wmco namespace',
  ],
  [
    eventText.monitoringDisabled('wmco'),
    'Warning',
    'monitoringDisabled',
    'Cluster monitoring openshift.io/cluster-monitoring label is not enabled in wmco namespace',
  ],
  [eventText.operatorConditionError('Failed to get'), 'Warning', 'OperatorConditionError', 'Failed to get'],
  [
    eventText.csrRefused('usages', 'has client auth'),
    'Warning',
    'CSRRefused',
    'Not approved (usages): has client auth',
  ],
  [
    eventText.csrCrowd('"joe"', 20),
    'Warning',
    'CSRsTooMany',
    '"joe" has more than 20 pending CSRs; only 20 are evaluated at a time, and refusals are not reported individually. Run kubectl get csr to find their source',
  ],
  [
    eventText.hostKeyChanged('10.1.42.1', 'Remove the pin.'),
    'Warning',
    'SSHHostKeyChanged',
    'Host 10.1.42.1 shows another SSH host key than the pinned one. Remove the pin.',
  ],
  [
    eventText.kubeletUnreachable({ message: 'Node win-1: no connection', remedy: 'Open the port.' }),
    'Warning',
    'KubeletUnreachable',
    'Node win-1: no connection. Open the port.',
  ],
  [
    eventText.prePullTimeout({ message: 'no ready pod', remedy: 'Look at it.' }),
    'Warning',
    'PrePullTimeout',
    'no ready pod. Look at it.',
  ],
  [
    eventText.exporterCertificateUnusable({ code: 'TLS_PAIR_INVALID', message: 'no key', remedy: 'Store one.' }),
    'Warning',
    'ExporterCertificateUnusable',
    'TLS_PAIR_INVALID: no key. Store one.',
  ],
  [
    eventText.clusterUnsuitable({ code: 'NETWORK_CLASS_E', message: 'class E', remedy: 'Choose another.' }),
    'Warning',
    'ClusterUnsuitable',
    'NETWORK_CLASS_E: class E. Choose another.',
  ],
  [eventText.clusterSuitable(), 'Normal', 'ClusterSuitable', 'The cluster supports Windows nodes: all checks pass'],
  [eventText.instanceTeardownFailure('no answer'), 'Warning', 'InstanceTeardownFailure', 'no answer'],
  [eventText.instanceRemovalIncomplete('a file'), 'Warning', 'InstanceRemovalIncomplete', 'a file'],
  [eventText.privateKeyUnusable('not a key'), 'Warning', 'PrivateKeyUnusable', 'not a key'],
  ...(['mirrorIgnored', 'noMirrorLeft', 'registryNotBlocked', 'registrySourceIgnored'] as const).map(
    (name): (typeof cases)[number] => [
      eventText[name]({ message: 'a wildcard', remedy: 'List registries.' }),
      'Warning',
      `${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      'a wildcard. List registries.',
    ],
  ),
  [
    eventText.moreMirrorProblems(2),
    'Warning',
    'MoreMirrorProblems',
    '2 more problems. Run wmco check mirrors to see all',
  ],
  [
    eventText.mirrorPathDiffers('at b, not at a'),
    'Warning',
    'MirrorPathDiffers',
    'at b, not at a. Copy the image to the path that Windows nodes ask for',
  ],
  [
    eventText.mirrorNotUsed('old'),
    'Warning',
    'MirrorNotUsed',
    'Windows nodes do not use ImageContentSourcePolicy old. Create an ImageDigestMirrorSet from it: oc adm migrate icsp',
  ],
  [
    eventText.nodeNotCounted('n1', 'not ready'),
    'Warning',
    'NodeNotCounted',
    'Node n1 is out of service (not ready) and has kept other hosts waiting for an hour; the disruption budget does not count it for a day. Repair the node, or set countCordoned: always in ConfigMap windows-rollout for cordoned nodes',
  ],
  [
    eventText.rolloutSettingInvalid({ code: 'ROLLOUT_SETTING_INVALID', message: 'soak is x', remedy: 'Set soak.' }),
    'Warning',
    'RolloutSettingInvalid',
    'ROLLOUT_SETTING_INVALID: soak is x. Set soak.',
  ],
  [
    eventText.kubeletSettingInvalid({ code: 'KUBELET_SETTING_INVALID', message: 'maxPods is 0', remedy: 'Set it.' }),
    'Warning',
    'KubeletSettingInvalid',
    'KUBELET_SETTING_INVALID: maxPods is 0. Set it.',
  ],
  [
    eventText.instanceRebooted('10.1.42.1', 'win-1'),
    'Normal',
    'InstanceRebooted',
    'Rebooted instance with address 10.1.42.1; Node win-1 is ready',
  ],
  [
    eventText.settingsApplied('10.1.42.1', 'win-1'),
    'Normal',
    'SettingsApplied',
    'Services of instance with address 10.1.42.1 run with the changed settings; Node win-1 is ready',
  ],
  [eventText.settingsFailure('HOST_X: bad'), 'Warning', 'SettingsFailure', 'HOST_X: bad'],
  [eventText.instanceRebootFailure('HOST_X: bad'), 'Warning', 'InstanceRebootFailure', 'HOST_X: bad'],
  [
    eventText.versionClaimed('win-5', 'its Node claims version v1'),
    'Warning',
    'NodeVersionClaimed',
    'Node win-5 is not set up again: its Node claims version v1',
  ],
  [
    eventText.rebootLimitReached({ code: 'REBOOT_LIMIT', message: 'rebooted 3 times', remedy: 'Read the events.' }),
    'Warning',
    'RebootLimitReached',
    'REBOOT_LIMIT: rebooted 3 times. Read the events.',
  ],
  [
    eventText.servicesMissing('windows-services-v1'),
    'Warning',
    'ServicesConfigMissing',
    'ConfigMap windows-services-v1 was deleted, and this version of the operator cannot create it. Its hosts keep their services running, but cannot repair them or go back to that version. Restore it from a backup, or upgrade the hosts: `wmco rollout` shows what holds them back',
  ],
  [eventText.certificateReadError('bad bundle'), 'Warning', 'CertificateReadError', 'bad bundle'],
  [
    eventText.nodeRemovedByForce({ node: 'win-1', address: '10.0.0.1', removed: '2026-03-01T12:00:00Z' }, 'clean up'),
    'Warning',
    'NodeRemovedByForce',
    'Node win-1 has registered, although its host 10.0.0.1 was removed by force at 2026-03-01T12:00:00Z. It is cordoned and tainted. To clean the host, list 10.0.0.1 in the ConfigMap windows-instances and delete the entry when the Node is Ready; or run on the host: clean up, then kubectl delete node win-1',
  ],
];
for (const [event, type, reason, message] of cases) {
  test(`${reason}: ${message.slice(0, 50)}`, () => expect(event).toEqual({ type, reason, message }));
}

test('every event has a case here', () => {
  expect(new Set(cases.map(([event]) => event.reason)).size).toBe(Object.keys(eventText).length - 1);
});
