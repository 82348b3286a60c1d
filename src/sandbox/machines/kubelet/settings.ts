import { parse } from 'yaml';
import type { Taint } from '#kube/resources.ts';

/** What the double takes from the kubelet's configuration file. */
export interface KubeletSettings {
  taints: Taint[];
  maxPods: number;
  asksForServingCertificate: boolean;
  rotatesCertificates: boolean;
}

/** Throws for what a real kubelet would not start with. */
export function readSettings(text: string | undefined, path: string): KubeletSettings {
  const refuse = (why: string) => new Error(`failed to load kubelet config file, path: ${path}: ${why}`);
  if (text === undefined) throw refuse('it does not exist');
  const config = parse(text) as Record<string, unknown> | null;
  if (config?.['kind'] !== 'KubeletConfiguration' || config['apiVersion'] !== 'kubelet.config.k8s.io/v1beta1')
    throw refuse('no KubeletConfiguration of v1beta1');
  return {
    taints: (config['registerWithTaints'] ?? []) as Taint[],
    maxPods: (config['maxPods'] ?? 110) as number,
    asksForServingCertificate: config['serverTLSBootstrap'] === true,
    rotatesCertificates: config['rotateCertificates'] === true,
  };
}
