import type { SettingValue } from './kubelet-fields.ts';

/** What the kubelet's configuration file says about fields that users may set; all others have the kubelet's own defaults. */
export const defaultKubeletSettings: Readonly<Record<string, SettingValue>> = {
  maxPods: 250,
  kubeAPIQPS: 50,
  kubeAPIBurst: 100,
  serializeImagePulls: false,
  evictionHard: { 'imagefs.available': '15%', 'nodefs.available': '10%' },
  containerLogMaxSize: '50Mi',
  systemReserved: { cpu: '500m', 'ephemeral-storage': '1Gi', memory: '2Gi' },
};
