import { Secret } from '../../../src/base/secret.ts';
import { dir, file } from '../../../src/contract/paths.ts';
import { printDesiredServices, shortHash } from '../../../src/contract/services/hash.ts';
import { filesHash, type NodeFile } from '../../../src/node/desired/files.ts';
import type { HostSettings } from '../../../src/node/lifecycle/deps.ts';
import { packFiles } from '../../../src/node/pack-files.ts';

/** What the cluster does with the hosts: kubelets that register, agents that confirm. */
export interface LabBehavior {
  /** The agent asks for a reboot in the boot in which it first runs, as it does for new certificates. */
  settingsReboot?: boolean;
  /** The request of the kubelet is not approved. */
  noNode?: boolean;
  /** The agent never comes to its end, with any version or with this one. */
  noVersion?: boolean;
  brokenVersion?: string;
  /** The agent never comes to its end with these settings of services. */
  brokenServices?: string;
  /** The request of the agent is not approved. */
  noCertificate?: boolean;
}

/** Texts of what hosts follow. */
export interface LabSettings {
  /** `hosts.toml` by registry. */
  mirrors: Record<string, string>;
  /** Text of the kubelet's configuration. */
  kubelet: string;
  /** Stands for the content of the services ConfigMap. */
  services: string;
}

export function labFiles({ mirrors, kubelet: config }: Pick<LabSettings, 'mirrors' | 'kubelet'>): NodeFile[] {
  return [
    labFile(file.caBundle, '', 'live'),
    labFile(file.kubeletConfig, config, 'start'),
    ...Object.entries(mirrors).map(([registry, text]) =>
      labFile(`${dir.registries}\\${registry}\\hosts.toml`, text, 'live'),
    ),
  ];
}

export function labFile(path: string, content: string, use: NodeFile['use']): NodeFile {
  return { path, content: new Secret(content), sensitive: use === 'credential', use };
}

export function hostSettings(settings: LabSettings, of: string): HostSettings {
  const files = labFiles(settings);
  const hashOf = (use: NodeFile['use']) =>
    filesHash(
      files.filter(each => each.use === use),
      new Secret('salt'),
    );
  return {
    liveHash: hashOf('live'),
    services: printDesiredServices({ version: of, hash: shortHash(settings.services), files: hashOf('start') }),
    mirrors: Object.keys(settings.mirrors).map(registry => `${registry}\\hosts.toml`),
    hasProxy: settings.services.includes('proxy'),
    ownedDirectories: [dir.registries, dir.tlsCerts],
    texts: () => packFiles(files),
  };
}
