import { byteOrder } from '#base/compare.ts';

/** Labels in Kubernetes domains that a kubelet may set on its Node. */
const kubeletLabels = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
]);

const kubeletDomains = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const reservedDomains = ['kubernetes.io', 'k8s.io'];
const restrictedDomain = 'node-restriction.kubernetes.io';

type Labels = Readonly<Record<string, string>>;

/** Changed labels that a kubelet is not allowed to change, sorted. */
export function forbiddenLabels(next: Labels = {}, old: Labels = {}): string[] {
  const keys = [...new Set([...Object.keys(next), ...Object.keys(old)])];
  const changed = keys.filter(key => next[key] !== old[key]);
  return changed.filter(isForbidden).toSorted(byteOrder);
}

function isForbidden(key: string): boolean {
  const slash = key.indexOf('/');
  const domain = slash === -1 ? '' : key.slice(0, slash);
  const isIn = (parent: string) => domain === parent || domain.endsWith(`.${parent}`);
  if (isIn(restrictedDomain)) return true;
  return reservedDomains.some(isIn) && !kubeletLabels.has(key) && !kubeletDomains.some(isIn);
}
