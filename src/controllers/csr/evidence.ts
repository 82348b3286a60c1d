import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { objectLabel } from '#contract/object.ts';
import type { CsrInstance } from './case.ts';

/** The record of an instance as evidence; `ownVersion` is that of this operator. */
export function evidenceOf(object: WindowsInstance, ownVersion: string): CsrInstance {
  const { metadata, spec, status = {} } = object;
  const { name = '', namespace = '' } = metadata;
  const { agent, cloudNode, host, tokens = [], version } = status;
  return {
    label: objectLabel('WindowsInstance', { namespace, name }),
    isMachine: spec.source?.kind === 'Machine',
    node: boundNode(object) ?? '',
    addresses: host?.addresses ?? [],
    servingNames: spec.servingNames ?? [],
    tokens,
    agentKeyHash: agent?.keyHash,
    cloudKeyHash: cloudNode?.keyHash,
    // For a Node that another operator configured, the status has a version and no key.
    hasFormerAgent: agent === undefined && version !== undefined && version !== ownVersion,
  };
}
