import { parse } from 'yaml';
import type { Taint } from '#kube/resources.ts';

/** Settings that the double uses. */
export interface KubeletSettings {
  taints: Taint[];
  maxPods: number;
  requestsServingCertificate: boolean;
  rotatesCertificates: boolean;
}

/** Throws if a real kubelet would not start. */
export function readSettings(text: string | undefined, path: string): KubeletSettings {
  const invalid = (why: string) => new Error(`failed to load kubelet config file, path: ${path}: ${why}`);
  if (text === undefined) throw invalid('it does not exist');
  const config = parse(text) as Record<string, unknown> | null;
  if (config?.['kind'] !== 'KubeletConfiguration' || config['apiVersion'] !== 'kubelet.config.k8s.io/v1beta1')
    throw invalid('not a KubeletConfiguration of v1beta1');
  return {
    taints: (config['registerWithTaints'] ?? []) as Taint[],
    maxPods: (config['maxPods'] ?? 110) as number,
    requestsServingCertificate: config['serverTLSBootstrap'] === true,
    rotatesCertificates: config['rotateCertificates'] === true,
  };
}
