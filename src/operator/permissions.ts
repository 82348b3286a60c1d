import { openshiftResources } from '#cluster/facts-source.ts';
import { installationPermissions } from '#cluster/installation.ts';
import { permissions as ofControllers } from '#controllers/all.ts';
import { nodeEventsNamespace, type Permission, reading } from '#kube/permissions.ts';
import { permissions as ofLeadership } from './leadership.ts';
import { permissions as ofInputs } from '#node/inputs/host-inputs.ts';
import { permissions as ofScrapeAccess } from './serve/scrape-access.ts';
import { permissions as ofTokens } from '#node/inputs/tokens.ts';

const ofFacts: readonly Permission[] = openshiftResources.map(({ group, plural }) => ({
  in: 'cluster',
  group,
  resources: [plural],
  verbs: reading,
}));

const ofEvents: readonly Permission[] = (['own namespace', { namespace: nodeEventsNamespace }] as const).map(where => ({
  in: where,
  group: '',
  resources: ['events'],
  verbs: ['create', 'patch'],
}));

/** The pod uses the host network, which OpenShift restricts; `hostnetwork` would not allow its seccomp profile. */
const ofPod: readonly Permission[] = [
  {
    in: 'cluster',
    group: 'security.openshift.io',
    resources: ['securitycontextconstraints'],
    verbs: ['use'],
    names: ['hostnetwork-v2'],
  },
];

/** All permissions of the operator. */
export const operatorPermissions: readonly Permission[] = [
  ...ofFacts,
  ...ofEvents,
  ...ofLeadership,
  ...ofInputs,
  ...ofTokens,
  ...ofScrapeAccess,
  ...installationPermissions,
  ...ofControllers,
  ...ofPod,
];
