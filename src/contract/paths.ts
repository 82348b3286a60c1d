/** Paths on a Windows host that operator, agent and services share. Backslashes, none at the end. */

export const dir = {
  temp: 'C:\\Temp',
  k: 'C:\\k',
  cni: 'C:\\k\\cni',
  cniConfig: 'C:\\k\\cni\\config',
  containerd: 'C:\\k\\containerd',
  registries: 'C:\\k\\containerd\\registries',
  tls: 'C:\\k\\tls',
  tlsCerts: 'C:\\k\\tls\\certs',
  agentCerts: 'C:\\k\\wicd-certs',
  /** Packed copies of uploaded files, named by hash, to restore damaged files from. */
  staged: 'C:\\k\\staged',
  /** Uploaded bundles, named by hash; `stage` restricts it to SYSTEM and Administrators. */
  incoming: 'C:\\k\\incoming',
  /** Native code of the agent; only administrators can write here. The operator removes it. */
  agentNative: 'C:\\Program Files\\windows-instance-config-daemon',
  /**
   * One folder per agent program, named by its hash. Only administrators can write below C:\Windows, so its content can
   * be trusted.
   */
  agentPrograms: 'C:\\Windows\\windows-instance-config-daemon',
  /** Files of other users that were found in the operator's folders. Never executed. */
  quarantine: 'C:\\Windows\\windows-instance-config-daemon\\quarantine',
  staticPods: 'C:\\k\\etc\\kubernetes\\manifests',
  log: 'C:\\var\\log',
  kubeletLog: 'C:\\var\\log\\kubelet',
  csiProxyLog: 'C:\\var\\log\\csi-proxy',
  kubeProxyLog: 'C:\\var\\log\\kube-proxy',
  agentLog: 'C:\\var\\log\\wicd',
  hybridOverlayLog: 'C:\\var\\log\\hybrid-overlay',
  containerdLog: 'C:\\var\\log\\containerd',
  exporterLog: 'C:\\var\\log\\windows_exporter',
  cniState: 'C:\\var\\lib\\cni',
  /** Settings and keys of the SSH server, which makes this folder. */
  ssh: 'C:\\ProgramData\\ssh',
  /** Lower-case c and a trailing backslash, exactly as in the command line of kubelets in existing clusters. */
  kubeletPki: 'c:\\var\\lib\\kubelet\\pki\\',
} as const;

/** Created in this order before the first upload. */
export const requiredDirectories = [
  dir.temp,
  dir.cni,
  dir.cniConfig,
  dir.log,
  dir.kubeletLog,
  dir.csiProxyLog,
  dir.kubeProxyLog,
  dir.agentLog,
  dir.hybridOverlayLog,
  dir.containerd,
  dir.containerdLog,
  dir.exporterLog,
  dir.registries,
  dir.staticPods,
  dir.k,
  dir.tls,
  dir.agentCerts,
] as const;

const agentFile = 'windows-instance-config-daemon.exe';

export const file = {
  agent: `${dir.k}\\${agentFile}`,
  kubelet: `${dir.k}\\kubelet.exe`,
  kubeProxy: `${dir.k}\\kube-proxy.exe`,
  logRunner: `${dir.k}\\kube-log-runner.exe`,
  hybridOverlay: `${dir.k}\\hybrid-overlay-node.exe`,
  exporter: `${dir.k}\\windows_exporter.exe`,
  csiProxy: `${dir.k}\\csi-proxy.exe`,
  azureCloudNodeManager: `${dir.k}\\azure-cloud-node-manager.exe`,
  containerd: `${dir.containerd}\\containerd.exe`,
  containerdConfig: `${dir.containerd}\\containerd_conf.toml`,
  exporterWebConfig: `${dir.tls}\\windows-exporter-webconfig.yaml`,
  tlsCertificate: `${dir.tlsCerts}\\tls.crt`,
  tlsKey: `${dir.tlsCerts}\\tls.key`,
  bootstrapKubeconfig: `${dir.k}\\bootstrap-kubeconfig`,
  bootstrapCa: `${dir.k}\\bootstrap-ca.crt`,
  kubeconfig: `${dir.k}\\kubeconfig`,
  kubeletConfig: `${dir.k}\\kubelet.conf`,
  kubeletCa: `${dir.k}\\kubelet-ca.crt`,
  kubeProxyConfig: `${dir.k}\\kube-proxy.conf`,
  cloudConfig: `${dir.k}\\cloud.conf`,
  /** Where the kubelet looks for logins of registries. */
  registryLogins: 'C:\\var\\lib\\kubelet\\config.json',
  credentialProviderConfig: `${dir.k}\\credential-provider-config.yaml`,
  caBundle: `${dir.k}\\ca-bundle.crt`,
  importedCerts: `${dir.k}\\imported-certs.pem`,
  agentKubeconfig: `${dir.k}\\wicd-kubeconfig`,
  agentCertificate: `${dir.agentCerts}\\wicd-client-current.pem`,
  /** Key of the agent, created by `install`; SEC 1 in PEM form. */
  agentKey: `${dir.agentCerts}\\wicd-client-key.pem`,
  /** Certificate and key of cloud-node-manager, renewed by the agent; its kubeconfig refers to this file. */
  cloudNodeCertificate: `${dir.agentCerts}\\cloud-node-current.pem`,
  cloudNodeKey: `${dir.agentCerts}\\cloud-node-key.pem`,
  cloudNodeKubeconfig: `${dir.k}\\cloud-node-manager-kubeconfig`,
  /** The current set: the files that `stage` or a swap put in place, with their hashes. */
  stagedRecord: `${dir.staged}\\files.json`,
  /** Sets that are not in place: for the next swap, and of the last one. */
  nextSet: `${dir.staged}\\next.json`,
  previousSet: `${dir.staged}\\previous.json`,
  cniConfig: `${dir.cniConfig}\\cni.conf`,
  kubeletLog: `${dir.kubeletLog}\\kubelet.log`,
  kubeProxyLog: `${dir.kubeProxyLog}\\kube-proxy.log`,
  hybridOverlayLog: `${dir.hybridOverlayLog}\\hybrid-overlay.log`,
  containerdLog: `${dir.containerdLog}\\containerd.log`,
  exporterLog: `${dir.exporterLog}\\windows_exporter.log`,
  csiProxyLog: `${dir.csiProxyLog}\\csi-proxy.log`,
} as const;

/** Where the SSH server reads the keys of all administrators. */
export const authorizedKeysFile = `${dir.ssh}\\administrators_authorized_keys`;

/** Which folders of the operator existed before the join. No user can write to its folder; it is deleted last. */
export const folderRecordFile = `${dir.agentPrograms}\\folders.json`;

/** A swap of files that was ordered or has ended; in a folder that no user can write to. */
export const activationFile = `${dir.agentPrograms}\\activation.json`;
/** The last leader that changed the host. */
export const leaderFile = `${dir.agentPrograms}\\leader.json`;
/** Held by the command that changes the host. */
export const lockFile = `${dir.agentPrograms}\\lock`;

/** The boot in which the operator last ordered a reboot. */
export const orderedRebootFile = `${dir.agentPrograms}\\ordered-reboot`;

/** Path of a bundle until it is staged; only a complete one has this name. */
export function bundlePath(sha256: string): string {
  return `${dir.incoming}\\${sha256}`;
}

/** The agent program that the operator uploads and runs. Windows services run the copy at `file.agent`. */
export function agentProgram(sha256: string): string {
  return `${dir.agentPrograms}\\${sha256}\\${agentFile}`;
}

const agentProgramPattern = /^C:\\Windows\\windows-instance-config-daemon\\([0-9a-f]{64})\\[^\\]+$/i;

/** The hash in the path of an agent program; undefined for any other path. */
export function agentProgramHash(path: string): string | undefined {
  return agentProgramPattern.exec(path)?.[1]?.toLowerCase();
}

/** Splits at the last backslash, which stays with the directory: `C:\a\b` gives `C:\a\` and `b`. */
export function splitPath(path: string): { directory: string; name: string } {
  const cut = path.lastIndexOf('\\') + 1;
  return { directory: path.slice(0, cut), name: path.slice(cut) };
}
