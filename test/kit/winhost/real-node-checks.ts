import { expect } from 'vitest';
import { accessLabels, nodeRoleName } from '../../../src/controllers/agent-access/desired.ts';
import {
  agentServiceAccountUser,
  configMapName,
  identity,
  namespaceName,
  nodeAnnotation,
  nodeLabel,
  signer,
  windowsTaint,
} from '../../../src/contract/names.ts';
import { parseHostKey } from '../../../src/host/host-key.ts';
import { parsePrivateKey } from '../../../src/host/keys/private-key.ts';
import { publicKeyHash } from '../../../src/host/keys/public-key.ts';
import { openUsername } from '../../../src/host/keys/username-seal.ts';
import { findCondition } from '../../../src/base/condition.ts';
import { clusterRoleBindings, clusterRoles, configMaps, events, type KubeEvent } from '../../../src/kube/resources.ts';
import { machines } from '../../../src/kube/resources-openshift.ts';
import { subnetOf, uninitializedTaint } from './real-doubles.ts';
import { agentUser, kubeletName, type SeenMember } from './real-sight.ts';

/** One line of the acceptance list, looked at in the cluster. */
export type Check = readonly [name: string, look: (seen: SeenMember) => void | Promise<void>];

const isMachine = ({ source }: SeenMember) => source === 'Machine';
const ofSigner = ({ requests }: SeenMember, name: string) =>
  requests.map(({ request }) => request).filter(({ spec }) => spec.signerName === name);

export const nodeChecks: readonly Check[] = [
  [
    'NODE-01: the Node is ready and takes pods, and the cloud has looked at it',
    ({ node: { spec, status } }) => {
      const conditions = status?.conditions ?? [];
      const fromReady = conditions.slice(conditions.findIndex(({ type }) => type === 'Ready'));
      expect(fromReady.map(condition => condition.status)).toEqual(fromReady.map(() => 'True'));
      expect(findCondition(conditions, 'Ready')?.status).toBe('True');
      expect(spec?.unschedulable ?? false).toBe(false);
      expect(spec?.taints?.map(({ key }) => key)).not.toContain(uninitializedTaint);
    },
  ],
  [
    'CRE-B-01, CRE-M-01: it has the labels of its source, and no mark of work that is not done',
    seen => {
      const labels = seen.node.metadata.labels ?? {};
      expect(labels).toMatchObject({
        [nodeLabel.os]: 'windows',
        [nodeLabel.osId]: 'Windows',
        [nodeLabel.worker]: '',
        ...(!isMachine(seen) && { [nodeLabel.byoh]: 'true' }),
      });
      expect(Object.keys(labels)).not.toContain(isMachine(seen) ? nodeLabel.byoh : nodeLabel.upgrading);
      expect(Object.keys(seen.annotations)).not.toContain(nodeAnnotation.rebootRequired);
      expect(Object.keys(seen.annotations)).not.toContain(nodeAnnotation.cordoned);
    },
  ],
  [
    'NODE-02: it has the version and the hash of the public key',
    ({ annotations, scene: { version, privateKey } }) => {
      expect(annotations[nodeAnnotation.version]).toBe(version);
      expect(annotations[nodeAnnotation.desiredVersion]).toBe(version);
      const { publicKey } = parsePrivateKey(privateKey);
      expect(annotations[nodeAnnotation.pubKeyHash]).toBe(publicKeyHash(publicKey));
    },
  ],
  [
    'NODE-04: the overlay has annotated it, and the private key opens its user name',
    ({ annotations, host, scene }) => {
      expect(annotations[nodeAnnotation.hybridOverlaySubnet]).toBe(subnetOf(host.address));
      expect(annotations[nodeAnnotation.hybridOverlayGatewayMac]).toMatch(/^0a:58:/);
      const sealed = annotations[nodeAnnotation.username] ?? '';
      expect(sealed).not.toContain('Administrator');
      expect(openUsername(sealed, scene.privateKey)).toBe('Administrator');
    },
  ],
  [
    'NODE-05: it carries the host key of the SSH server, which is pinned on its instance',
    ({ annotations, host, seenInstance }) => {
      const key = annotations[nodeAnnotation.sshHostKey] ?? '';
      expect(`${annotations[nodeAnnotation.sshHostKeyType]} ${key}`).toBe(host.hostKey);
      expect(parseHostKey(key).type).toBe('ssh-ed25519');
      expect(seenInstance.status?.hostKey).toBe(host.hostKey);
    },
  ],
  [
    'NODE-06: its first taint keeps Linux pods away',
    ({ node }) => expect(node.spec?.taints?.[0]).toEqual(windowsTaint),
  ],
  [
    'NODE-07, CRE-M-06: that of a Machine has the id of the host, and the Machine has become Running',
    async seen => {
      const { scene, instance, node } = seen;
      if (!isMachine(seen)) return expect(node.spec?.providerID).toBeUndefined();
      const { spec, status } = await scene.admin.get(machines, instance, {
        namespace: namespaceName.machineApi,
      });
      expect([node.spec?.providerID, status?.phase]).toEqual([spec?.providerID, 'Running']);
      expect(status?.nodeRef).toMatchObject({ name: node.metadata.name, uid: node.metadata.uid });
    },
  ],
  [
    'NODE-14: it has the address of the host, and room for pods',
    ({ host, name, node: { status } }) => {
      expect(status?.addresses).toEqual([
        { type: 'InternalIP', address: host.address },
        { type: 'Hostname', address: name },
      ]);
      const amounts = ['cpu', 'memory', 'pods'].map(name => Number.parseInt(status?.allocatable?.[name] ?? '', 10));
      for (const amount of amounts) expect(amount).toBeGreaterThan(0);
    },
  ],
  [
    'CRE-B-01, CRE-M-01: one event on its source, and one on the instance, report its setup',
    async seen => {
      const { seenInstance, instance, scene } = seen;
      const message = isMachine(seen)
        ? `Machine ${instance} configured successfully`
        : `Configured instance with address ${seenInstance.spec.address} as a worker node`;
      // Events come a little later than what they report.
      const reported = async () => (await scene.admin.listAll(events)).items.filter(each => each.message === message);
      await expect.poll(reported, { timeout: 60_000 }).toHaveLength(2);
      const isOnInstance = ({ involvedObject }: KubeEvent) => involvedObject.kind === 'WindowsInstance';
      const own = (await reported()).find(isOnInstance);
      expect(own?.involvedObject).toMatchObject({ name: instance, uid: seenInstance.metadata.uid });
      const event = (await reported()).find(each => !isOnInstance(each));
      expect(event).toMatchObject({
        type: 'Normal',
        reason: isMachine(seen) ? 'MachineSetup' : 'InstanceSetup',
        involvedObject: isMachine(seen)
          ? { kind: 'Machine', name: instance, namespace: namespaceName.machineApi }
          : { kind: 'ConfigMap', name: configMapName.instances, namespace: scene.namespace },
      });
      const { machineApi: namespace } = namespaceName;
      const source = isMachine(seen)
        ? await scene.admin.get(machines, instance, { namespace })
        : await scene.admin.get(configMaps, configMapName.instances, { namespace: scene.namespace });
      // Without it `describe` does not show the event.
      expect(event?.involvedObject.uid).toBe(source.metadata.uid);
      expect(event?.count ?? 1).toBe(1);
    },
  ],
  [
    'its WindowsInstance is ready and shows every step as done at the first attempt',
    ({ seenInstance: { spec, status }, host, name, scene, ...seen }) => {
      expect(spec.source).toEqual({ kind: seen.source, name: seen.instance });
      expect(status).toMatchObject({ phase: 'Ready', node: name, ipv4: host.address, version: scene.version });
      expect(['Configured', 'Ready'].map(type => findCondition(status?.conditions, type)?.status)).toEqual([
        'True',
        'True',
      ]);
      const timeline = status?.timeline ?? [];
      expect(
        timeline.map(({ finished, attempts, lastError }) => [finished !== undefined, attempts, lastError]),
      ).toEqual(timeline.map(() => [true, 1, undefined]));
      expect(timeline.at(-1)?.name).toBe('reach kubelet');
      expect(status?.reboot).toBeUndefined();
    },
  ],
  [
    'CSR-01 to CSR-03: certificates of its kubelet were approved by whom they are for',
    seen => {
      const reason = isMachine(seen) ? 'NodeCSRApprove' : 'WMCOApprove';
      const [client, serving] = [signer.kubeletClient, signer.kubeletServing].map(name => ofSigner(seen, name));
      for (const request of [...(client ?? []), ...(serving ?? [])]) {
        expect(request.status?.conditions).toMatchObject([{ type: 'Approved', reason }]);
        expect(request.status?.certificate).toBeTruthy();
      }
      expect(client?.map(({ spec }) => spec.username)).toEqual([identity.nodeBootstrapper]);
      expect(new Set(serving?.map(({ spec }) => spec.username))).toEqual(new Set([kubeletName(seen.name)]));
    },
  ],
  [
    'CSR-05, RBAC-03: that of its agent was asked for by the account of agents and approved by the operator',
    seen => {
      const requests = ofSigner(seen, signer.apiClient);
      expect(new Set(requests.map(({ status }) => status?.conditions?.[0]?.reason))).toEqual(
        new Set(['WICDAutoApproved']),
      );
      expect(requests[0]?.spec.username).toBe(agentServiceAccountUser(seen.scene.namespace));
    },
  ],
  [
    'RBAC: its agent may do something with this very Node, for as long as that exists',
    async ({ name, node, scene: { admin } }) => {
      const [role, binding] = await Promise.all([
        admin.get(clusterRoles, nodeRoleName(name)),
        admin.get(clusterRoleBindings, nodeRoleName(name)),
      ]);
      for (const { metadata } of [role, binding]) {
        expect(metadata.ownerReferences).toMatchObject([{ kind: 'Node', name, uid: node.metadata.uid }]);
        expect(metadata.labels).toMatchObject(accessLabels);
      }
      expect(role.rules?.map(({ resourceNames }) => resourceNames)).toEqual(role.rules?.map(() => [name]));
      expect(binding.subjects).toMatchObject([{ kind: 'User', name: agentUser(name) }]);
    },
  ],
];
