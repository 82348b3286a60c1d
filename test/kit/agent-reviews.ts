import { reportName } from '../../src/contract/agent-report.ts';
import { agentServiceAccountUser, identity } from '../../src/contract/names.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import type { Client } from '../../src/kube/client.ts';

/** Who asks, as the API server knows it. */
export interface Subject {
  user: string;
  groups: readonly string[];
}

/** What is asked for: `verb resource[/subresource][.group] [name] [in namespace]`. */
export interface Question {
  who: Subject;
  verb: string;
  resource: string;
  subresource?: string;
  group?: string;
  name?: string;
  namespace?: string;
}

export function agentAccount(namespace: string): Subject {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { user: agentServiceAccountUser(namespace), groups };
}

export function agentOf(node: string): Subject {
  return { user: `${identity.agentUserPrefix}${node}`, groups: [identity.agentsGroup, 'system:authenticated'] };
}

interface Place {
  namespace: string;
  /** Of the agent, and another one. */
  node: string;
  other: string;
}

const csr = { resource: 'certificatesigningrequests', group: 'certificates.k8s.io' } as const;

/** What the Go operator allows to the account of agents and to every agent, beyond what agents of this operator need. */
export function wideRights({ namespace, node, other }: Place): Question[] {
  const [account, agent] = [agentAccount(namespace), agentOf(node)];
  const maps = { resource: 'configmaps' };
  return [
    ...['get', 'list'].map(verb => ({ who: account, verb, ...maps, namespace: 'kube-system' })),
    ...['get', 'list', 'watch'].map(verb => ({ who: account, verb, ...maps, namespace })),
    ...['get', 'list'].map(verb => ({ who: account, verb, resource: 'nodes' })),
    ...['get', 'patch', 'update'].map(verb => ({ who: account, verb, resource: 'nodes', name: node })),
    ...['get', 'list'].map(verb => ({ who: agent, verb, ...maps, namespace: 'kube-system' })),
    ...['get', 'list'].map(verb => ({ who: agent, verb, ...maps, namespace })),
    { who: agent, verb: 'list', resource: 'nodes' },
    { who: agent, verb: 'watch', resource: 'nodes' },
    ...['get', 'patch', 'update'].map(verb => ({ who: agent, verb, resource: 'nodes', name: other })),
    ...['patch', 'update'].map(verb => ({ who: agent, verb, resource: 'nodes', name: node })),
    ...['patch', 'update'].map(verb => ({ who: agent, verb, resource: 'nodes', subresource: 'status', name: other })),
  ];
}

/** What an agent of the Go operator needs on its own Node until it is replaced. */
export function formerRights({ namespace, node }: Place): Question[] {
  const agent = agentOf(node);
  return [
    { who: agent, verb: 'list', resource: 'nodes' },
    ...['get', 'patch', 'update'].map(verb => ({ who: agent, verb, resource: 'nodes', name: node })),
    { who: agent, verb: 'list', resource: 'configmaps', namespace },
    { who: agentAccount(namespace), verb: 'list', resource: 'nodes' },
  ];
}

/** What our agents need. */
export function ownRights({ namespace, node }: Place, version: string): Question[] {
  const [account, agent] = [agentAccount(namespace), agentOf(node)];
  const services = { resource: 'configmaps', name: servicesConfigMapName(version), namespace };
  return [
    { who: account, verb: 'get', ...services },
    { who: account, verb: 'create', ...csr },
    { who: agent, verb: 'create', ...csr },
    { who: agent, verb: 'watch', ...services },
    { who: agent, verb: 'watch', resource: 'nodes', name: node },
    { who: agent, verb: 'patch', resource: 'configmaps', name: reportName(node), namespace },
  ];
}

/** Those that are allowed, as text. */
export async function allowedOf(client: Client, questions: readonly Question[]): Promise<string[]> {
  const answers = await Promise.all(questions.map(each => isAllowed(client, each)));
  return questions.filter((_, index) => answers[index]).map(textOf);
}

export function textOf({ who, verb, resource, subresource, name, namespace }: Question): string {
  const what = [resource, subresource].filter(Boolean).join('/');
  return [who.user, verb, what, name, namespace && `in ${namespace}`].filter(Boolean).join(' ');
}

async function isAllowed(client: Client, { who, ...resourceAttributes }: Question): Promise<boolean> {
  const spec = { user: who.user, groups: who.groups, resourceAttributes };
  const kind = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const { status } = await client.raw<{ status: { allowed: boolean } }>('POST', path, { body: { ...kind, spec } });
  return status.allowed;
}
