import { isRecord } from '#base/fields.ts';
import type { WindowsSet } from '#install/machine-set/windows-set.ts';
import type { KubeResource } from '#kube/resource.ts';

type Json = Record<string, unknown>;

/** A merge patch that makes an existing set like a new one; without `--replicas` it keeps its number of Machines. */
export function machineSetPatch(
  existing: KubeResource & { spec?: unknown },
  { metadata, spec }: WindowsSet['object'],
  { areReplicasGiven }: { areReplicasGiven: boolean },
): Json {
  const { replicas, ...rest } = spec;
  const before = providerSpecOf(existing.spec);
  const value = providerSpecOf(spec);
  const template = rest['template'] as Json;
  // A merge patch keeps what it does not name.
  const gone = Object.fromEntries(Object.keys(before).flatMap(name => (name in value ? [] : [[name, null]])));
  const templateSpec = { ...(template['spec'] as Json), providerSpec: { value: { ...gone, ...value } } };
  return {
    metadata: { labels: metadata.labels, annotations: metadata.annotations },
    spec: { ...rest, template: { ...template, spec: templateSpec }, ...(areReplicasGiven && { replicas }) },
  };
}

function providerSpecOf(spec: unknown): Json {
  let value = spec;
  for (const name of ['template', 'spec', 'providerSpec', 'value']) value = isRecord(value) ? value[name] : undefined;
  return isRecord(value) ? value : {};
}
