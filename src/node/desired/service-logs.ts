import { parseGoDuration } from '#base/go-duration.ts';
import { parseQuantity, unitsRoundedUp } from '#base/quantity.ts';
import type { LogRotation } from '#cluster/facts.ts';
import { serviceName } from '#contract/names.ts';
import { file } from '#contract/paths.ts';

/** How the log of a service is rotated when `SERVICES_LOG_FILE_SIZE` is set. */
export interface ServiceLog {
  service: string;
  /** Undefined if it writes none. */
  file: string | undefined;
  rotatedBy: 'kube-log-runner' | 'the service' | 'nothing';
}

/**
 * kube-log-runner can run only programs that register as a service wherever they run: its child is no child of the service manager.
 * containerd and windows_exporter look at their parent first, so they would run without ever becoming a running service.
 */
export const serviceLogs: readonly ServiceLog[] = [
  { service: serviceName.containerd, file: file.containerdLog, rotatedBy: 'nothing' },
  { service: serviceName.kubelet, file: file.kubeletLog, rotatedBy: 'kube-log-runner' },
  { service: serviceName.exporter, file: file.exporterLog, rotatedBy: 'nothing' },
  { service: serviceName.hybridOverlay, file: file.hybridOverlayLog, rotatedBy: 'the service' },
  { service: serviceName.csiProxy, file: file.csiProxyLog, rotatedBy: 'kube-log-runner' },
  { service: serviceName.kubeProxy, file: file.kubeProxyLog, rotatedBy: 'kube-log-runner' },
  { service: serviceName.cloudNodeManager, file: undefined, rotatedBy: 'nothing' },
];

/** Services whose logs are not rotated with these settings. */
export function notRotated(rotation: LogRotation): string[] {
  const stays = ({ file: path, rotatedBy }: ServiceLog) =>
    path !== undefined && (rotatedBy === 'nothing' || (rotatedBy === 'kube-log-runner' && !isRotating(rotation)));
  return serviceLogs.filter(stays).map(({ service }) => service);
}

export function isRotating({ fileSize }: Pick<LogRotation, 'fileSize'>): boolean {
  return (parseQuantity(fileSize)?.numerator ?? 0n) > 0n;
}

const [mebibyte, dayMs] = [1_048_576n, 86_400_000];
/** A terabyte; the program multiplies it in 64 bits. */
const maxMebibytes = 1_048_576n;

/** Flags of hybrid-overlay-node, which has limits of its own: 100 MiB for a file, five old files, five days. */
export function overlayLogFlags(rotation: LogRotation): string[] {
  const size = parseQuantity(rotation.fileSize);
  if (size === undefined || !isRotating(rotation)) return [];
  const mebibytes = unitsRoundedUp(size, mebibyte);
  const days = Math.ceil((parseGoDuration(rotation.fileAge) ?? 0) / dayMs);
  return [
    `--logfile-maxsize ${mebibytes > maxMebibytes ? maxMebibytes : mebibytes}`,
    ...(days > 0 ? [`--logfile-maxage ${days}`] : []),
  ];
}
