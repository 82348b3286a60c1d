import type { RoleRule } from './role-rule.ts';
import { on } from './role-rule.ts';

const read = ['get', 'list', 'watch'];

/** Rules of all kubelets; the node authorizer and admission restrict the objects. */
export const nodeRules: readonly RoleRule[] = [
  on(['create'], 'authentication.k8s.io', 'tokenreviews'),
  on(['create'], 'authorization.k8s.io', 'subjectaccessreviews', 'localsubjectaccessreviews'),
  on(read, '', 'services'),
  on(['create', ...read], '', 'nodes'),
  on(['update', 'patch'], '', 'nodes/status'),
  on(['update', 'patch'], '', 'nodes'),
  on(['create', 'update', 'patch'], '', 'events'),
  on(read, '', 'pods'),
  on(['create', 'delete'], '', 'pods'),
  on(['update', 'patch'], '', 'pods/status'),
  on(['create'], '', 'pods/eviction'),
  on(read, '', 'secrets', 'configmaps'),
  on(['get'], '', 'endpoints'),
  on(['create', ...read], 'certificates.k8s.io', 'certificatesigningrequests'),
  on(['get', 'create', 'update', 'patch', 'delete'], 'coordination.k8s.io', 'leases'),
  on(['create'], '', 'serviceaccounts/token'),
];
