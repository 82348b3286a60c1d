import {
  accountClusterRules,
  accountRules,
  cloudNodeRules,
  formerAccountClusterRules,
  formerNamespaceRules,
  formerNodeRules,
  groupClusterRules,
  groupRules,
  nodeRules,
  reportRules,
} from '../src/controllers/agent-access/rules.ts';
import { agentName, identity } from '../src/contract/names.ts';
import type { PolicyRule } from '../src/kube/resources.ts';

const node = 'NODE';
const services = ['windows-services-VERSION'];
const where = 'in the operator’s namespace';

interface Holder {
  who: string;
  /** The credential. */
  by: string;
  cluster: readonly PolicyRule[];
  namespace: readonly PolicyRule[];
}

const holders: readonly Holder[] = [
  {
    who: `service account \`${agentName}\``,
    by: 'token in `C:\\k\\wicd-kubeconfig`, for an hour',
    cluster: accountClusterRules,
    namespace: accountRules(services),
  },
  {
    who: `group \`${identity.agentsGroup}\``,
    by: 'certificate of any agent',
    cluster: groupClusterRules,
    namespace: groupRules(services),
  },
  {
    who: `user \`${identity.agentUserPrefix}${node}\``,
    by: 'certificate in `C:\\k\\wicd-certs`',
    cluster: nodeRules(node),
    namespace: reportRules(node),
  },
  {
    who: `user \`${identity.cloudNodeUserPrefix}${node}\` (Azure)`,
    by: 'certificate in `C:\\k\\wicd-certs\\cloud-node-current.pem`',
    cluster: cloudNodeRules(node),
    namespace: [],
  },
  {
    who: `user \`${identity.agentUserPrefix}${node}\`, while an agent of the Go operator runs there`,
    by: 'certificate of that agent',
    cluster: formerNodeRules(node),
    namespace: formerNamespaceRules,
  },
  {
    who: `service account \`${agentName}\`, while an agent of the Go operator runs anywhere`,
    by: 'token on such a host',
    cluster: formerAccountClusterRules,
    namespace: formerNamespaceRules,
  },
];

/** docs/reference/rights.md, from the rules that the operator writes. */
export function rightsPage(): string {
  const rows = holders.flatMap(({ who, by, cluster, namespace }) =>
    [...cluster.map(rule => ruleText(rule, '')), ...namespace.map(rule => ruleText(rule, ` ${where}`))].map(
      (text, index) => `| ${index === 0 ? who : ''} | ${index === 0 ? by : ''} | ${text} |`,
    ),
  );
  return [
    '# Permissions of credentials on a Windows host',
    '',
    'Generated from `src/controllers/agent-access/rules.ts` by `npm run generate`. The kubelet has the permissions of every',
    'kubelet (node authorizer and NodeRestriction) and of kube-proxy (ClusterRole `system:node-proxier`). The operator',
    'writes no other credential of the cluster to a host.',
    '',
    '| who | credential | permissions |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function ruleText({ verbs, resources = [], resourceNames = [] }: PolicyRule, place: string): string {
  const names = resourceNames.length === 0 ? '' : ` \`${resourceNames.join('`, `')}\``;
  return `${verbs.join(', ')} ${resources.join(', ')}${names}${place}`;
}
