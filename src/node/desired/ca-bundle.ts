import type { ClusterFacts, RegistryBundle } from '#cluster/facts.ts';

/** All CAs a host must trust: those of image registries, then the proxy's. Empty when there are none. */
export function caBundle(facts: Pick<ClusterFacts, 'registryBundles' | 'trustedCa'>): string {
  return facts.registryBundles.map(caBundleEntry).join('') + (facts.trustedCa ?? '');
}

/** The machine config operator writes `host..port` where a file name could not hold a colon. */
export function caBundleEntry(bundle: RegistryBundle): string {
  return `# ${bundle.file.replaceAll('..', ':')}\n${bundle.data}\n\n`;
}
