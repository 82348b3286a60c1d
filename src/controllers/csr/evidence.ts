import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { objectLabel } from '#contract/object.ts';
import type { CsrInstance } from './rules.ts';

/** The record of an instance as evidence, for an operator of this version. */
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
    // The status of a Node that another operator has finished has its version, and no key.
    hasFormerAgent: agent === undefined && version !== undefined && version !== ownVersion,
  };
}
