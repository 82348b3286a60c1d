import { AppError } from '#base/errors.ts';
import { dir } from '#contract/paths.ts';
import type { Checksums } from '#payload/checksums.ts';

/** A program that is installed on hosts. */
export interface PayloadFile {
  /** Path below the payload folder of the image, where the file is stored as `<source>.tar.gz`. */
  source: string;
  /** Last part of the path: the file's name on the host and in the checksum list. */
  name: string;
  /** Directory on the host. */
  directory: string;
  /** Platforms that need the file; undefined means every platform. */
  platforms?: readonly string[];
  /** Installed only if the payload has it. */
  isOptional?: true;
}

/**
 * Programs that are copied unchanged. Not here: the configuration of containerd and of the exporter, which is generated, and the
 * PowerShell scripts of the Go operator, which the agent replaces.
 */
export const payloadFiles: readonly PayloadFile[] = [
  // The agent comes first, because it unpacks and checks the others.
  payloadFile('windows-instance-config-daemon.exe', dir.k),
  payloadFile('hybrid-overlay-node.exe', dir.k),
  payloadFile('windows-exporter/windows_exporter.exe', dir.k),
  payloadFile('kube-node/kubelet.exe', dir.k),
  payloadFile('kube-node/kube-proxy.exe', dir.k),
  payloadFile('kube-node/kube-log-runner.exe', dir.k),
  payloadFile('csi-proxy/csi-proxy.exe', dir.k),
  payloadFile('cni/win-bridge.exe', dir.cni),
  payloadFile('cni/host-local.exe', dir.cni),
  payloadFile('cni/win-overlay.exe', dir.cni),
  payloadFile('containerd/containerd.exe', dir.containerd),
  payloadFile('containerd/containerd-shim-runhcs-v1.exe', dir.containerd),
  payloadFile('ecr-credential-provider.exe', dir.k, ['AWS']),
  payloadFile('azure-cloud-node-manager.exe', dir.k, ['Azure']),
  { ...payloadFile('acr-credential-provider.exe', dir.k, ['Azure']), isOptional: true },
  { ...payloadFile('gcr-credential-provider.exe', dir.k, ['GCP']), isOptional: true },
];

/** The files for a platform, in the order of the table; of the optional ones those that the payload has. */
export function payloadFor(platform: string, optional: readonly string[] = []): PayloadFile[] {
  return payloadFiles
    .filter(({ platforms }) => platforms === undefined || platforms.includes(platform))
    .filter(({ name, isOptional }) => isOptional !== true || optional.includes(name));
}

/** Names of the optional files with a checksum. */
export function optionalPrograms(checksums: Checksums): string[] {
  return payloadFiles
    .filter(({ name, isOptional }) => isOptional === true && Object.hasOwn(checksums, name))
    .map(({ name }) => name);
}

/** One error for every payload file without a checksum; all platforms unless one is given. */
export function checkPayload(checksums: Checksums, platform?: string): AppError[] {
  const files = platform === undefined ? payloadFiles : payloadFor(platform);
  return files
    .filter(({ isOptional }) => isOptional !== true)
    .filter(({ name }) => !Object.hasOwn(checksums, name))
    .map(
      ({ name, source }) =>
        new AppError('PAYLOAD_CHECKSUM_MISSING', `missing SHA256Sum for ${name}`, {
          remedy: `Build the payload with ${source} and list its hash in the file sha256sum.`,
        }),
    );
}

function payloadFile(source: string, directory: string, platforms?: readonly string[]): PayloadFile {
  const name = source.slice(source.lastIndexOf('/') + 1);
  return { source, name, directory, ...(platforms && { platforms }) };
}
