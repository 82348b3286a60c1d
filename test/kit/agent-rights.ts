import { reportName } from '../../src/contract/agent-report.ts';
import { agentServiceAccountUser, identity } from '../../src/contract/names.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import type { Client } from '../../src/kube/client.ts';
import {
  certificateSigningRequests,
  clusterRoleBindings,
  clusterRoles,
  type PolicyRule,
  roleBindings,
  roles,
} from '../../src/kube/resources.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const read = ['get', 'list', 'watch'];
const rule = (resource: string, verbs: string[], resourceNames?: string[], group = ''): PolicyRule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
  ...(resourceNames !== undefined && { resourceNames }),
});
const requests = rule(certificateSigningRequests.plural, ['create', ...read], undefined, 'certificates.k8s.io');
const user = (name: string) => ({ kind: 'User', name, apiGroup });

/** Exactly what an agent may do: with its token until it has a certificate, with the certificate from then on. */
export class AgentRights {
  readonly #admin: Client;
  readonly #namespace: string;
  readonly #versions: string[] = [];
  readonly #nodes: string[] = [];

  private constructor(admin: Client, namespace: string) {
    this.#admin = admin;
    this.#namespace = namespace;
  }

  /** For one cluster and namespace. */
  static async grant(admin: Client, namespace: string): Promise<AgentRights> {
    const rights = new AgentRights(admin, namespace);
    const account = user(agentServiceAccountUser(namespace));
    const group = { kind: 'Group', name: identity.agentsGroup, apiGroup };
    await rights.#everywhere(`agent-requests-${namespace}`, [requests], [account, group]);
    await rights.#here('agent-token', rights.#tokenRules(), account);
    return rights;
  }

  /** Lets agents read the services ConfigMap of a version, too. */
  async allowVersion(version: string): Promise<void> {
    this.#versions.push(servicesConfigMapName(version));
    await this.#replaceRules('agent-token', this.#tokenRules());
    for (const node of this.#nodes) await this.#replaceRules(`agent-${node}`, this.#nodeRules(node));
  }

  /** Of the agent of this Node. */
  async addNode(node: string): Promise<void> {
    if (this.#nodes.includes(node)) return;
    this.#nodes.push(node);
    const agent = user(`${identity.agentUserPrefix}${node}`);
    await this.#everywhere(`agent-${this.#namespace}-${node}`, [rule('nodes', read, [node])], [agent]);
    await this.#here(`agent-${node}`, this.#nodeRules(node), agent);
  }

  async revoke(): Promise<void> {
    const names = [`agent-requests-${this.#namespace}`, ...this.#nodes.map(node => `agent-${this.#namespace}-${node}`)];
    for (const name of names) {
      await this.#admin.delete(clusterRoleBindings, name);
      await this.#admin.delete(clusterRoles, name);
    }
  }

  #tokenRules(): PolicyRule[] {
    return this.#versions.length === 0 ? [] : [rule('configmaps', ['get'], this.#versions)];
  }

  #nodeRules(node: string): PolicyRule[] {
    const report = rule('configmaps', ['get', 'update', 'patch'], [reportName(node)]);
    return this.#versions.length === 0 ? [report] : [report, rule('configmaps', read, this.#versions)];
  }

  async #everywhere(name: string, rules: PolicyRule[], subjects: object[]): Promise<void> {
    await this.#admin.create(clusterRoles, { metadata: { name }, rules });
    const roleRef = { apiGroup, kind: 'ClusterRole', name };
    await this.#admin.create(clusterRoleBindings, { metadata: { name }, roleRef, subjects: subjects as never });
  }

  async #here(name: string, rules: PolicyRule[], subject: ReturnType<typeof user>): Promise<void> {
    const metadata = { name, namespace: this.#namespace };
    await this.#admin.create(roles, { metadata, rules });
    const roleRef = { apiGroup, kind: 'Role', name };
    await this.#admin.create(roleBindings, { metadata, roleRef, subjects: [subject] });
  }

  async #replaceRules(name: string, rules: PolicyRule[]): Promise<void> {
    await this.#admin.patch(roles, name, { type: 'merge', body: { rules } }, { namespace: this.#namespace });
  }
}
