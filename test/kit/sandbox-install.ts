import { vi } from 'vitest';
import { toBase64 } from '../../src/base/bytes.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { agentName, configMapName, secretKey, secretName } from '../../src/contract/names.ts';
import { windowsInstanceCrd } from '../../src/contract/windows-instance/crd.ts';
import { ApiError, isAlreadyExists, isNotFound, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { operatorPermissions } from '../../src/operator/permissions.ts';
import { rbacManifests } from '../../src/operator/rbac-manifests.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** Also called outside of tests, where expect.poll fails. */
const waiting = { timeout: 60_000, interval: 20 };
const crd = windowsInstanceCrd() as kinds.CustomResourceDefinition;
const crdName = crd.metadata.name ?? '';
const byKind = new Map<string, Resource>(
  [kinds.serviceAccounts, kinds.roles, kinds.roleBindings, kinds.clusterRoles, kinds.clusterRoleBindings].map(each => [
    each.kind,
    each,
  ]),
);

/** What an administrator installs, deletes and installs again. */
export class SandboxInstallation {
  readonly client: Client;
  readonly namespace: string;
  readonly #sandbox: Sandbox;
  readonly #listed: readonly SimulatedHost[];
  readonly #direct: SimulatedHost;

  constructor(sandbox: Sandbox, client: Client, listed: readonly SimulatedHost[], direct: SimulatedHost) {
    this.client = client;
    this.namespace = sandbox.namespace;
    this.#sandbox = sandbox;
    this.#listed = listed;
    this.#direct = direct;
  }

  /** Creates what is missing, without any host. No host of another version is upgraded. */
  async install(): Promise<void> {
    const { namespace } = this;
    const named = (name: string) => ({ metadata: { name, namespace } });
    const key = { [secretKey.privateKey]: toBase64(this.#sandbox.privateKey.reveal()) };
    await this.#create(kinds.customResourceDefinitions, crd);
    await this.#create(kinds.namespaces, { metadata: { name: namespace } });
    await this.#create(kinds.configMaps, { ...named(configMapName.rollout), data: { paused: 'true' } });
    await this.#create(kinds.serviceAccounts, named(agentName));
    for (const manifest of this.#permissions()) await this.#create(manifest.resource, manifest.object);
    await this.#create(kinds.secrets, { ...named(secretName.privateKey), data: key });
    await this.#served();
  }

  async listHosts(): Promise<void> {
    const metadata = { name: configMapName.instances, namespace: this.namespace };
    const data = Object.fromEntries(this.#listed.map(({ spec }) => [spec.address, `username=${spec.user}`]));
    await this.#create(kinds.configMaps, { metadata, data });
  }

  /** An instance without an entry. */
  async addDirect(): Promise<void> {
    const { address, user: username } = this.#direct.spec;
    const metadata = { name: 'direct', namespace: this.namespace };
    await this.#create(windowsInstances, { metadata, spec: { address, username } });
  }

  async deletePermissions(): Promise<void> {
    for (const { resource, object } of this.#permissions()) {
      const { name = '', namespace } = object.metadata;
      await this.client.delete(resource, name, namespace === undefined ? {} : { namespace }).catch(unless(isNotFound));
    }
  }

  async deleteCrd(): Promise<void> {
    await this.client.delete(kinds.customResourceDefinitions, crdName);
    await this.#gone(kinds.customResourceDefinitions, crdName);
  }

  async deleteNamespace(): Promise<void> {
    await this.client.delete(kinds.namespaces, this.namespace);
    await this.#gone(kinds.namespaces, this.namespace);
  }

  async deleteEntries(): Promise<void> {
    const { namespace } = this;
    await this.client.delete(kinds.configMaps, configMapName.instances, { namespace });
  }

  #permissions(): { resource: Resource; object: KubeResource }[] {
    return rbacManifests(operatorPermissions, this.namespace).map(manifest => {
      const resource = byKind.get(manifest.kind);
      if (resource === undefined) throw new Error(`unknown kind ${manifest.kind}`);
      return { resource, object: manifest };
    });
  }

  async #create<T extends KubeResource>(resource: Resource<T>, object: T): Promise<void> {
    await this.client.create(resource, object).catch(unless(isAlreadyExists));
  }

  async #gone(resource: Resource, name: string): Promise<void> {
    await vi.waitUntil(async () => (await this.client.find(resource, name)) === undefined, waiting);
  }

  async #served(): Promise<void> {
    const list = () => this.client.list(windowsInstances, { namespace: this.namespace });
    await vi.waitUntil(() => list().then(() => true, isNotServed), waiting);
  }
}

function isNotServed(error: unknown): false {
  if (error instanceof ApiError && error.code === 404) return false;
  throw error;
}
